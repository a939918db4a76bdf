import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Suites that start real processes from a build; `npm test` makes the builds first. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    // Tests wait for events. Their limits only end what hangs, on a machine that is busy with other things too.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 50_000, interval: 25 } },
    // The CLI prints times in the zone of the machine.
    env: { TZ: 'UTC' },
    pool: 'forks',
    // Packages are imported as Node and the bundle import them.
    deps: { interopDefault: false },
    // Most of a suite is waiting for a process or a deadline: two processors carry three.
    maxWorkers: 3,
    sequence: { shuffle: { files: true, tests: false } },
    coverage: {
      provider: 'v8',
      include: ['src/**', 'adapters/**'],
      exclude: ['src/main.ts', '**/*.md'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: {
        'src/core/**': { branches: 100 },
        'src/routing/**': { branches: 100 },
        'src/delivery/plan-reply.ts': { branches: 100 },
      },
    },
  },
})
