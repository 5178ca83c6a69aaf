import { writeSync } from 'node:fs';

/**
 * Vitest reporter that ends the output with one plain line, `N passed, N failed`. A file that could not be
 * loaded, a failed hook and an error outside of any test count as a failed test each, and a run without tests fails.
 */
export default class ClosingLineReporter {
  onTestRunEnd(testModules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const testModule of testModules) {
      let failedTests = 0;
      for (const test of testModule.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') count.passed += 1;
        else if (state === 'failed') failedTests += 1;
        else count.skipped += 1;
      }
      for (const suite of testModule.children.allSuites()) failedTests += suite.errors().length;
      // A file that did not load fails without a failed test.
      if (failedTests === 0 && testModule.state() === 'failed') failedTests = 1;
      count.failed += failedTests;
    }
    // Written when the process ends, so that nothing of vitest's comes after it.
    process.once('exit', (code) => {
      if (count.passed + count.failed === 0) {
        process.exitCode = 1;
        writeSync(2, 'No test was run.\n');
      } else if (code !== 0 && count.failed === 0) {
        writeSync(2, `Vitest ended with exit code ${code} although no test failed.\n`);
      }
      const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
      writeSync(1, `\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
    });
  }
}
