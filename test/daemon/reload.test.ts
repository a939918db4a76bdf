import { expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { createCurrentRouting, createReload } from '../../src/daemon/reload.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { policy } from '../fakes/routing-policy.ts'

const running = {
  routing: policy(),
  session: { queue: { max: 100, busy: 'queue' } },
  logging: { level: 'info', pretty: false },
  store: { path: '/a/parley.db' },
  warnings: [],
  down: [],
} as unknown as Config

async function reloaded(next: Config) {
  const logger = new AwaitedLog()
  const { reload } = createReload({
    ...{ running, logger, load: async () => next, claimed: () => true, policyChanged: async () => [] },
    policies: createCurrentRouting(running.routing, () => {}),
  })
  return { report: await reload(), line: await logger.line('The policy was read again') }
}

test('a reload lists what waits for the next start, in its report and in the log, by the names in the file', async () => {
  const changed = { store: { path: '/b/parley.db' }, logging: { level: 'warn', pretty: false } } as const
  const { report, line } = await reloaded({ ...running, ...changed })

  expect(report.later).toEqual(['logging.level', 'store.url'])
  expect(line.fields.later).toEqual(report.later)
})

test('a reload of a file in which only the policy has changed lists nothing for the next start', async () => {
  const { report, line } = await reloaded({ ...running, routing: policy({ wakeWords: ['parley'] }) })

  expect([report.later, line.fields.later]).toEqual([[], []])
})
