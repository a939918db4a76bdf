import { expect, it } from 'vitest'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'

const MARKS = ['zq9first-4711', 'zq9second-4712', 'zq9third-4713']

/** A member sends what the platform takes apart, with a word of somebody else between and after. */
async function albumOf(chatOf: 'direct' | 'group', addressed: boolean) {
  const house = await forgettingHouse()
  const { world, addGroup, answered, home } = house
  const chat = chatOf === 'group' ? addGroup('Trip') : 444
  const ids: number[] = []
  const inChat = chatOf === 'group' ? { chat } : {}
  const send = () => {
    for (const mark of MARKS) {
      const caption = mark !== MARKS[0] ? undefined : addressed ? '@parley_bot look' : 'look'
      const file = { as: 'document', name: `${mark}.txt`, bytes: Buffer.from(`inside ${mark}`), album: 'a1' } as const
      const extra = fileFields(world, { ...file, ...(caption && { caption }) })
      ids.push(world.say({ from: 444, ...inChat, text: '', extra }).message_id)
    }
  }
  if (addressed) await answered(send, chat)
  else {
    send()
    await house.say('hello', { chat })
  }
  const other = { as: 'document', name: 'zq9other-4714.txt', bytes: Buffer.from('inside'), album: 'a2' } as const
  world.say({ from: 555, ...inChat, text: '', extra: fileFields(world, other) })
  const held = () => MARKS.filter((mark) => holding(home.dataDir, mark).length > 0)
  return { ...house, chat, ids, held }
}

it.each([
  ['the first piece of it', 0, 'direct', true],
  ['the last piece of it', 2, 'group', true],
  ['its first piece, which nobody has answered', 0, 'group', false],
  ['/forget last', undefined, 'group', true],
] as const)('S41: an album goes as the one message that it is: %s', async (_what, piece, where, addressed) => {
  const { home, say, chat, ids, held } = await albumOf(where, addressed)
  expect(held()).toEqual(MARKS)
  const named = piece === undefined ? {} : { replyTo: ids[piece] ?? 0 }
  expect(await say(piece === undefined ? '/forget last' : '/forget', { from: 444, chat, ...named })).toMatch(
    /^Forgotten/,
  )
  await expect.poll(held, { timeout: 30_000 }).toEqual([])
  if (where === 'group') expect(holding(home.dataDir, 'zq9other-4714')).not.toEqual([])
})

it('S41: a piece of it that comes once it was forgotten is not kept, and of another album it is', async () => {
  const { home, say, chat, ids, held, world } = await albumOf('group', true)
  expect(await say('/forget', { from: 444, chat, replyTo: ids[0] ?? 0 })).toMatch(/^Forgotten/)
  await expect.poll(held, { timeout: 30_000 }).toEqual([])
  for (const [mark, album] of [
    ['zq9late-4715', 'a1'],
    ['zq9apart-4716', 'a3'],
  ] as const) {
    const file = { as: 'document', name: `${mark}.txt`, bytes: Buffer.from('inside'), album } as const
    world.say({ from: 444, chat, text: '', extra: fileFields(world, { ...file, caption: mark }) })
  }
  await say('hm', { chat })
  expect(holding(home.dataDir, 'zq9late-4715')).toEqual([])
  expect(holding(home.dataDir, 'zq9apart-4716')).not.toEqual([])
})
