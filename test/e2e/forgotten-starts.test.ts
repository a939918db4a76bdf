import { expect, it } from 'vitest'
import { holding } from './forgetting-house.ts'
import type { Household } from './household.ts'
import { startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const DAY = 86_400_000
const SECRET = 'zq9canary'
const START = {
  ...{ agent: 'main', workspace: 'desk', context: { guest: `${SECRET} Ada` } },
  workplace: { fileScope: 'workspace', workingFolder: `/srv/${SECRET}`, selection: `const a = '${SECRET}'` } as const,
}

async function begun(home: Household): Promise<void> {
  const { sessions } = home.daemon.operator
  await sessions.start({ name: 'api:seen', ...START })
  expect((await sessions.show('api:seen')).workplace).toEqual(START.workplace)
}

/** What is left of the start of a session of which the texts are gone. */
async function expectEmptied({ daemon, dataDir }: Household): Promise<void> {
  const { workplace, workspace, agent, events } = await daemon.operator.sessions.show('api:seen')
  expect({ workplace, workspace, agent }).toEqual({
    workplace: { fileScope: 'workspace' },
    workspace: 'desk',
    agent: 'main',
  })
  expect(JSON.stringify(events)).not.toContain(SECRET)
  expect(holding(dataDir, SECRET)).toEqual([])
}

it('C43: what a client said at the start of a session goes with its conversation, from every byte of the store', async () => {
  const home = await startHousehold()
  await begun(home)
  const { forgetting, sessions } = home.daemon.operator
  const asked = { kind: 'chat', name: 'api:seen' } as const
  expect(await forgetting.forget({ ...asked, confirmed: false })).toMatchObject({ counts: { events: 1 } })
  await forgetting.forget({ ...asked, confirmed: true })
  await expectEmptied(home)
  // The session itself goes on.
  expect(await sessions.post('api:seen', { text: 'hello' })).toMatchObject({ status: 'ok' })
})

it('S41, C43: what a client said at the start of a session goes by its age', async () => {
  const clock = setClock('2026-11-01T08:00:00Z')
  const home = await startHousehold({ clock, config: { retention: { days: 30, rules: [] } } })
  await begun(home)
  clock.skip(31 * DAY)
  await home.daemon.operator.forgetting.runRetention()
  await expectEmptied(home)
})
