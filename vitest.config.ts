import { defineConfig } from 'vitest/config';

/** The package's own name resolves to `src/`, in tests and in the processes they start. */
const sourceCondition = 'tidemark-source';

type Settings = {
  timeoutMs: number;
  setupFiles?: string[];
  globalSetup?: string[];
  fileParallelism?: boolean;
  isolate?: boolean;
};

function layer(name: string, { timeoutMs, ...more }: Settings) {
  return {
    extends: true as const,
    test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout: timeoutMs, hookTimeout: timeoutMs, ...more },
  };
}

/** No test shares state with another and each is checked for leaks: a fresh environment per file would only cost time. */
const inOneWorld = { setupFiles: ['./test/support/leak-check.ts'], isolate: false };

export default defineConfig({
  ssr: { resolve: { conditions: [sourceCondition] } },
  test: {
    reporters: ['default', './tools/vitest/closing-line.ts'],
    restoreMocks: true,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // Both run as processes of their own, in the end-to-end tests, where coverage does not see them.
      exclude: ['src/cli/bin.ts', 'src/cli/main.ts'],
      reporter: ['text-summary', 'json-summary', 'lcov'],
    },
    projects: [
      layer('unit', { timeoutMs: 2_000, ...inOneWorld }),
      layer('contracts', { timeoutMs: 10_000, ...inOneWorld }),
      layer('simulation', { timeoutMs: 30_000, ...inOneWorld }),
      layer('docs', { timeoutMs: 30_000 }),
      layer('integration', {
        timeoutMs: 60_000,
        fileParallelism: false,
        globalSetup: ['./test/services/global-setup.ts'],
      }),
      layer('e2e', { timeoutMs: 60_000, fileParallelism: false }),
    ],
  },
});
