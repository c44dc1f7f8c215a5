import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// Tests resolve the package's doors to its sources: what is tested is what is written, with no build between.
// Not `module`, which is for bundlers: Node does not know it, and packages put code there that Node cannot run.
const conditions = ['tickwire-source', 'node', 'import', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      'packages/**/*.test.ts',
      'games/**/*.test.ts',
      'bench/**/*.test.ts',
      'tools/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    // Templates of new games have tests for Node's own runner.
    exclude: ['**/node_modules/**', '**/dist/**', 'packages/create-tickwire/templates/**'],
    // Of its own, vitest would leave one core unused, which is half of a machine with two.
    maxWorkers: availableParallelism(),
    // A limit is for what hangs, not for what is slow: the machine may be busy. Real sockets and browsers bring longer
    // ones.
    testTimeout: 180_000,
    // A browser may take long to start beside everything else.
    hookTimeout: 120_000,
  },
})
