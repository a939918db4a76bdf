import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { toolResult } from './obedient.ts'

const MARK = 'zq9canary-4711'

/** Makes the call that a message names, and says what came of it. */
const obeying: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`result: ${result}`)
  const [, name, input] = /call (\w+) (\{.*\})/.exec(lastUserText(request)) ?? []
  if (name === undefined || input === undefined) return textReply('fine')
  return { blocks: [{ type: 'tool_use', name, input: JSON.parse(input) as Record<string, unknown> }] }
}

/** A channel has posted the mark in a group, and the owner, who says nothing there, has had the agent read it. */
async function channelPost() {
  const house = await forgettingHouse({ script: obeying })
  const { world, addGroup, say } = house
  const club = addGroup('Club')
  const news = world.addChat({ type: 'channel', title: 'News' }).id
  const post = world.say({ from: 444, chat: club, senderChat: news, text: `the code is ${MARK} for all of you` })
  // What came before this one is stored then.
  expect(await say('/whoami')).toContain('ada')
  const key = `telegram:group:${club}`
  expect(await say(`call sessions_history ${JSON.stringify({ sessionKey: key })}`)).toContain(MARK)
  return { ...house, club, key, id: post.message_id }
}

it('S41: what a channel has posted goes with its chat, from where it was read by a tool, too', async () => {
  const { home, key, say, prompt } = await channelPost()
  await home.daemon.operator.forgetting.forget({ kind: 'chat', name: key, confirmed: true })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  await say('what was it?')
  expect(prompt()).not.toContain(MARK)
})

it('S41: one post of a channel that the owner has forgotten goes from there, too', async () => {
  const { home, club, id, say } = await channelPost()
  expect(await say('/forget', { chat: club, replyTo: id })).toMatch(/^Forgotten/)
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})
