import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { setClock } from './set-clock.ts'

const MARK = 'zq9canary-4711'
const GROUP = -1001234567890

/** Each day the owner is sent a digest of the group, in which the owner says nothing. */
async function digested(words = `it is ${MARK}`) {
  const clock = setClock('2026-11-01T08:00:00Z')
  const timing = { cron: '0 9 * * *', timezone: 'Etc/UTC', missed: { kind: 'once' }, overlap: 'skip' } as const
  const definition = {
    ...{ ...timing, prompt: 'Summarise the group.' },
    digestOf: parseAddress(`telegram:group:${GROUP}`),
    deliverTo: parseAddress('telegram:direct:111'),
  }
  const script: Script = (request) =>
    textReply(lastUserText(request).includes('Summarise') ? `digest: ${lastUserText(request)}` : 'fine')
  const house = await forgettingHouse({ script, clock, schedules: () => [{ id: toScheduleId('morning'), definition }] })
  const { world, ledger, say, home } = house
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444, 555] })
  await say('hello')
  world.say({ from: 444, chat: GROUP, text: words })
  await say('@parley_bot hello', { from: 555, chat: GROUP })
  const after = ledger.mark()
  clock.set('2026-11-01T09:00:10Z')
  const { text } = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('digest: ') })
  expect(text).toContain(words)
  await recorded(home)
  return house
}

it('S41: a digest goes with the words that it was made of, however few they are', async () => {
  const { home, say } = await digested('zqx eel')
  expect(await say('/forget me yes', { from: 444, chat: GROUP })).toMatch(/^Forgotten/)
  await expect.poll(() => holding(home.dataDir, 'zqx eel')).toEqual([])
})

it('S41: what a digest has said goes with the words that it was made of, from its own log and where it was delivered', async () => {
  const { home, say, prompt } = await digested()
  expect(await say('/forget me yes', { from: 444, chat: GROUP })).toMatch(/^Forgotten/)
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  await say('what was in it?')
  expect(prompt()).not.toContain(MARK)
})
