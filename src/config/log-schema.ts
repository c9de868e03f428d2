import { z } from 'zod';
import { addresses, choice, duration, flag, secretText, size, text } from './leaves.ts';

const tls = z.strictObject({
  enabled: flag('Whether connections are encrypted.').default(false),
  ca: text(
    'the path of a file',
    'Authorities to trust, PEM, relative to the current folder; without it those of Node.',
  ).optional(),
  cert: text('the path of a file', 'The own certificate, PEM, where the brokers ask for one.').optional(),
  key: text('the path of a file', 'The key of the own certificate, PEM.').optional(),
});

const sasl = z.strictObject({
  mechanism: choice(
    ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
    'How the worker proves who it is; needs username and password.',
  ).default('none'),
  username: text('a name', 'The name for the brokers.').optional(),
  password: secretText('The password for the brokers.').optional(),
});

/** Where commits are read from. */
export const logSchema = z
  .strictObject({
    kind: choice(['embedded', 'kafka'], 'Where commits are read from.').default('embedded'),
    brokers: addresses(
      'host:port of one broker or more',
      'Brokers of Kafka to begin with: a list, or parted by commas.',
    ).optional(),
    clientId: text('a name', 'Names this application; group ids begin with it.').default('tidemark'),
    tls: tls.prefault({}),
    sasl: sasl.prefault({}),
    sessionTimeout: duration('After so long without a sign of life a worker loses its partitions.', 1_000).default(
      30_000,
    ),
    rebalanceTimeout: duration('How long the workers of a group wait for each other when partitions move.', 1).default(
      60_000,
    ),
    connectTimeout: duration('How long connecting to a broker may take.', 1).default(10_000),
    requestTimeout: duration('A broker that says nothing for so long is taken for dead.', 1).default(5_000),
    inflatedBytes: size('Bytes of a batch after decompression; beyond them its partition stops.').default(
      256 * 1024 * 1024,
    ),
  })
  .superRefine(({ kind, brokers, sasl: { mechanism, username, password } }, context) => {
    const missing = (path: readonly string[]): void => context.addIssue({ code: 'custom', path: [...path] });
    if (kind === 'kafka' && brokers === undefined) missing(['brokers']);
    if (mechanism !== 'none' && username === undefined) missing(['sasl', 'username']);
    if (mechanism !== 'none' && password === undefined) missing(['sasl', 'password']);
  });
