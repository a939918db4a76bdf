import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { startSlackHousehold } from './slack-household.ts'

/** A forum all of whose topics share a session with everything else. */
async function sharedForum() {
  const house = await forgettingHouse({ routing: { dimensions: [] } })
  const { world } = house
  const { id: forum } = world.addChat({ type: 'supergroup', title: 'Club', forum: true, members: [111, 444] })
  const [chess = 0, rowing = 0] = ['chess', 'rowing'].map((name) => world.addTopic({ chat: forum, name }))
  const say = (text: string, { from, topic }: { readonly from: number; readonly topic: number }) =>
    house.answered(() => {
      world.say({ from, chat: forum, topic, text: text.startsWith('/') ? text : `@parley_bot ${text}` })
    }, forum)
  return { ...house, chess, rowing, say, held: (words: string) => holding(house.home.dataDir, words) }
}

it.each([
  ['/forget chat yes', 111],
  ['/forget me here yes', 444],
])('S41: %s means the topic in which it is said, also where topics share a session', async (request, from) => {
  const { chess, rowing, say, prompt, held } = await sharedForum()
  await say('the bin goes out', { from, topic: rowing })
  await say('the cat stays in', { from, topic: chess })
  expect(await say(request, { from, topic: chess })).toMatch(/^Forgotten/)
  await expect.poll(() => held('the cat stays in'), { timeout: 30_000 }).toEqual([])
  await say('and now?', { from: 111, topic: rowing })
  expect(prompt()).toContain('the bin goes out')
  expect(prompt()).not.toContain('the cat stays in')
})

const BOT = '<@U0BOT>'
const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** A channel whose threads share its session, with words at its root and in a thread, said last where `last` says. */
async function sharedChannel(last: 'root' | 'thread') {
  const house = await startSlackHousehold({ script: hear, routing: { channelDimensions: { slack: ['chat'] } } })
  const { world, ledger } = house.slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  const answered = (act: () => void) => {
    const after = ledger.mark()
    act()
    return ledger.nextFromBot('sent', { after })
  }
  const root = world.say({ from: 'U444', channel, text: 'what is it about?' })
  await ledger.confirmed(root.ts)
  const said = {
    root: { text: `${BOT} the bin goes out` },
    thread: { text: `${BOT} the cat stays in`, thread: root },
  }
  for (const place of last === 'root' ? (['thread', 'root'] as const) : (['root', 'thread'] as const))
    await answered(() => void world.say({ from: 'U444', channel, ...said[place] }))
  const asked = async (text: string) => {
    const after = ledger.mark()
    world.say({ from: 'U333', channel, thread: root, text })
    await (text.startsWith('!') ? ledger.nextWhisper({ after }) : ledger.nextFromBot('sent', { after }))
    return JSON.stringify(house.anthropic.ledger.requests().at(-1)?.messages)
  }
  return { ...house, channel, asked, held: (words: string) => holding(house.dataDir, words), daemon: house.daemon }
}

it('S41: a channel that is named goes with its threads, also where its last word was said in a thread of its session', async () => {
  const { channel, daemon, held } = await sharedChannel('thread')
  await daemon.operator.forgetting.forget({ kind: 'chat', name: `slack:channel:${channel}`, confirmed: true })
  await expect.poll(() => held('the cat stays in'), { timeout: 30_000 }).toEqual([])
  expect(held('the bin goes out')).toEqual([])
})

it.each(['root', 'thread'] as const)(
  'S41: a thread that shares the session of its channel goes alone, with the last word said in the %s',
  async (last) => {
    const { asked, held } = await sharedChannel(last)
    await asked('!forget chat yes')
    await expect.poll(() => held('the cat stays in'), { timeout: 30_000 }).toEqual([])
    const prompt = await asked(`${BOT} and now?`)
    expect(prompt).toContain('the bin goes out')
    expect(prompt).not.toContain('the cat stays in')
  },
)
