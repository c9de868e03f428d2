import type { Reporter, TestCase, TestModule } from 'vitest/node';

type Tally = { passed: number; failed: number; readonly skipped: string[] };

/**
 * Names every skipped test with its reason, then ends the run with one plain line: `N passed, N failed, N skipped`.
 * A run in which no test ran at all fails, so that a mistyped filter or a broken setup cannot look green.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    // An error outside every test, and a file that broke before its tests ran, have no test to be counted by.
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length;
    const tally: Tally = { passed: 0, failed: unhandledErrors.length + brokenFiles, skipped: [] };
    for (const module of modules) {
      for (const test of module.children.allTests()) count(test, tally);
    }
    // Written on exit, after the summary of the default reporter and the coverage table.
    process.once('exit', () => {
      for (const line of tally.skipped) process.stdout.write(`skipped: ${line}\n`);
      if (tally.passed + tally.failed === 0) process.exitCode = 1;
      process.stdout.write(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped.length} skipped\n`);
    });
  }
}

function count(test: TestCase, tally: Tally): void {
  const result = test.result();
  switch (result.state) {
    case 'passed':
      tally.passed += 1;
      return;
    case 'failed':
      tally.failed += 1;
      return;
    case 'skipped':
    case 'pending': {
      const reason = result.state === 'skipped' ? result.note : 'never started';
      tally.skipped.push(reason === undefined ? test.fullName : `${test.fullName} (${reason})`);
    }
  }
}
