import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withDatabase } from '../store/temp-database.ts'
import { forgettingHouse } from './forgetting-house.ts'

/** Two groups, each with a message of the same number; that of the first is on record no more. */
async function sameNumber() {
  const house = await forgettingHouse()
  const [family, club] = [house.addGroup('Family'), house.addGroup('Club')]
  const aged = await house.exchange('a thing of the family', { chat: family })
  const kept = await house.exchange('a thing of the club', { chat: club })
  expect(kept.id).toBe(aged.id)
  withDatabase(join(house.home.dataDir, 'parley.db'), (database) => {
    const ofFamily = "json_extract(%, '$.event.address.chat') = ?".replace('%', 'dispatch')
    database.prepare(`DELETE FROM outbox WHERE json_extract(address, '$.chat') = ?`).run(String(family))
    database.prepare(`DELETE FROM inbox WHERE ${ofFamily}`).run(String(family))
  })
  return { ...house, family, club, id: aged.id }
}

it('S41: a reply to a message that is not on record here takes none of the same number from another chat', async () => {
  const { say, family, id, rows } = await sameNumber()
  const answer = await say('/forget', { chat: family, replyTo: id })
  expect(answer).toBe('That message is not on record here: nothing was removed.')
  expect(rows('SELECT dispatch FROM inbox')).toContain('a thing of the club')
})

it('S41: neither does its bare number; a link reaches the other chat', async () => {
  const { say, family, club, id, rows } = await sameNumber()
  expect(await say(`/forget ${id}`, { chat: family })).toBe(
    'That message is not on record here: nothing was removed. One of another chat I forget by its link.',
  )
  expect(rows('SELECT dispatch FROM inbox')).toContain('a thing of the club')
  expect(await say(`/forget https://t.me/c/${String(club).slice(4)}/${id}`, { chat: family })).toMatch(/^Forgotten: /)
  expect(rows('SELECT dispatch FROM inbox')).not.toContain('a thing of the club')
})

it('S41: the preview of what somebody named says whose id that is', async () => {
  const { say, addGroup } = await forgettingHouse()
  const family = addGroup('Family')
  await say('a thing of mine', { from: 444, chat: family })
  expect(await say('/forget telegram:444')).toMatch(/^You mean (bob: )?telegram:444\b/)
})
