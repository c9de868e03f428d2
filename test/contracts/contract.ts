import { describe, expect, test } from 'vitest';

/** What a port promises: sentences with checks that throw where the adapter breaks them. */
export type Contract<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>;

/** An adapter opened for one check, empty. */
export type Opened<Subject> = AsyncDisposable & { readonly subject: Subject };

/** Holds an adapter to a contract, each sentence on an adapter opened anew. */
export function holdTo<Subject>(
  adapter: string,
  contract: Contract<Subject>,
  open: () => Promise<Opened<Subject>>,
): void {
  describe(`the contract holds for ${adapter}`, () => {
    for (const [sentence, check] of Object.entries(contract)) {
      // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- Both stand in the contract.
      test(sentence, async () => {
        await using adapted = await open();
        await check(adapted.subject);
      });
    }
  });
}

/** Proves that no sentence of the contract holds for an adapter that is none. */
export function mustNotHold<Subject>(adapter: string, contract: Contract<Subject>, subject: () => Subject): void {
  describe(`the contract fails on ${adapter}`, () => {
    test.each(Object.entries(contract))('%s', async (_sentence, check) => {
      await expect(check(subject())).rejects.toThrow(Error);
    });
  });
}

/** An adapter that has nothing to close. */
export function opened<Subject>(subject: Subject): Opened<Subject> {
  return { subject, [Symbol.asyncDispose]: async () => undefined };
}
