import { compile, inRoot, node, prepareRealParts, run, runInNamespace } from './real-parts.mjs';

// npm test: everything that needs the network first, then all tests in one run inside a namespace without
// any. With --unit only the tests that need neither Go nor namespaces. What follows is handed to vitest.

const vitest = [
  inRoot('node_modules', 'vitest', 'vitest.mjs'),
  'run',
  '--reporter=default',
  `--reporter=${inRoot('scripts', 'closing-line-reporter.mjs')}`,
];

if (process.argv[2] === '--unit') {
  // Tests of the command line start it as a program of its own, which imports the compiled packages.
  compile();
  process.exitCode = run(node, [...vitest, '--project', 'unit', ...process.argv.slice(3)]);
} else {
  prepareRealParts();
  console.log('Tests');
  process.exitCode = runInNamespace([...vitest, ...process.argv.slice(2)]);
}
