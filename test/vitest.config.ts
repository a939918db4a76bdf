import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { mulberry } from './faults/random.ts'
import { useMemory } from './memory-folder.ts'
import { WHOLE } from './sample.ts'

// Before a process is started for tests.
useMemory()

/** Files with a process of their own each: a process has one of what they watch. */
const APART = [
  // A process has one listener at its failpoints.
  'test/adapters/discord/outbound.test.ts',
  'test/adapters/telegram/{poll,send-outcome}.test.ts',
  'test/agent/agent-loop.test.ts',
  'test/core/failpoint.test.ts',
  'test/delivery/recovery.test.ts',
  'test/hooks/run-command.test.ts',
  // A process has one heap.
  'test/platform/small-heap.test.ts',
  'test/sessions/people/links.test.ts',
]

/** They need what is installed for them alone: npm run test:encryption, npm run test:container. */
const NOT_HERE = [
  ...(process.env.PARLEY_TEST_ENCRYPTION ? [] : ['test/encryption/**']),
  ...(process.env.PARLEY_TEST_CONTAINER ? [] : ['test/container/**']),
]

/**
 * In an order by the seed, but the longest first: those of daemons as processes, then those of daemons in this one. Those
 * that are apart stand together, for a process is kept only where the next file may share it.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const random = mulberry(this.ctx.config.sequence.seed ?? 0)
    const place = ({ project, moduleId }: TestSpecification): number => {
      if (project.name === 'apart') return 0
      if (/\/test\/(faults\/|e2e\/demo-)/.test(moduleId)) return 1
      return moduleId.includes('/test/e2e/') ? 2 : 3
    }
    const drawn = files.map((file) => ({ file, at: place(file) + random() }))
    return drawn.toSorted((one, other) => one.at - other.at).map(({ file }) => file)
  }
}

/** Suites that start real processes from a build; `npm test` makes the builds first. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    // Tests wait for events. Their limits only end what hangs, on a machine that is busy with other things too.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 50_000, interval: 25 } },
    // The CLI prints times in the zone of the machine.
    env: { TZ: 'UTC' },
    pool: 'forks',
    // Packages are imported as Node and the bundle import them.
    deps: { interopDefault: false },
    // More than half of a suite is waiting for a process, a disk or a deadline: two processors carry six, but of whole
    // matrices, which start processes all the time, four.
    maxWorkers: WHOLE ? 4 : 6,
    sequence: { sequencer: LongestFirst, shuffle: { files: true, tests: false } },
    // To import everything anew for each file took a third of the time of all tests.
    projects: [
      { extends: true, test: { name: 'apart', include: APART } },
      {
        extends: true,
        test: {
          ...{ name: 'shared', isolate: false },
          ...{ include: ['test/**/*.test.ts'], exclude: [...configDefaults.exclude, ...APART, ...NOT_HERE] },
        },
      },
    ],
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
