import { expect, it, onTestFinished } from 'vitest'
import { type PersonId, toPersonId } from '../../../src/core/ids.ts'
import { personBehind } from '../../../src/routing/identify.ts'
import { personIds } from '../../../src/sessions/people/person-ids.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { fixedClock } from '../../fakes/fixed-clock.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { member, policy, routingOf } from '../../fakes/routing-policy.ts'
import { sessionDraft } from '../../store/sample-rows.ts'
import { tempFolder } from '../../store/temp-database.ts'

const BOB = toPersonId('bob')

/** A store in whose one session these people took part. */
async function storeWith(...participants: readonly string[]): Promise<Store> {
  const store = await openSqliteStore({ path: readyDatabase(`${tempFolder()}/store.db`), clock: fixedClock(1) })
  onTestFinished(() => store.close())
  await store.write(async (tx) => {
    const { id } = await tx.sessions.create(sessionDraft(1), 1)
    for (const one of participants) await tx.participants.add(id, one, 1)
  })
  return store
}

async function idsOf(
  store: Store,
  people: Parameters<typeof policy>[0] = {},
  among: 'participants' | 'authors' = 'participants',
): Promise<readonly string[]> {
  const routing = routingOf(policy(people))
  const now = {
    channels: routing.channels,
    configuredIds: (person: PersonId) => routing.people.ids.get(person) ?? [],
    linkedIds: () => [],
    whoIs: (id: string) => personBehind(routing.people, { personOf: () => undefined }, id),
  }
  return personIds(now, store.read[among], BOB)
}

it('S20, F-H04: an id without a team is that of whoever took part with it, and of nobody else', async () => {
  const store = await storeWith(
    'slack:t01/u444',
    'slack:t02/u444',
    'slack:t01/u4445',
    'discord:u444',
    'slack:t01/xu444',
  )
  const anywhere = await idsOf(store, { people: [member('bob', 'slack:U444')] })
  expect(anywhere).toEqual(['slack:u444', 'slack:t01/u444', 'slack:t02/u444'])
  expect(await idsOf(store, { people: [member('bob', 'slack:T01/U444')] })).toEqual(['slack:t01/u444'])
  expect(await idsOf(store, { people: [member('bob', 'U444')] })).toContain('slack:t02/u444')
})

it('S41: among authors is also whoever has left, or was quoted', async () => {
  const store = await storeWith('slack:t01/u444')
  await store.write(async (tx) => {
    for (const one of ['slack:t02/u444', 'slack:t02/u4445', 'slack:t01/u444'])
      await tx.authors.add(sessionDraft(1).id, one)
  })
  const people = { people: [member('bob', 'slack:U444')] }
  expect(await idsOf(store, people, 'authors')).toEqual(['slack:u444', 'slack:t01/u444', 'slack:t02/u444'])
  expect(await idsOf(store, people)).toEqual(['slack:u444', 'slack:t01/u444'])
})
