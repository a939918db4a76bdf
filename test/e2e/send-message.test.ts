import { expect, it } from 'vitest'
import type { ToolRule } from '../../src/core/approval.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { codeOf, GROUP } from './asking-household.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

const BOB = 'telegram:direct:444'
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['message'] }]

/** Does what anybody says: `tell <where> <what>` sends a message. */
const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  const [, to, text] = /tell (\S+) (.+)$/.exec(lastUserText(request)) ?? []
  if (to === undefined || text === undefined) return textReply('fine')
  return { blocks: [{ type: 'tool_use', name: 'send_message', input: { to, text } }] }
}

async function household(rules: readonly ToolRule[] = []) {
  const house = await startHousehold({
    ...{ script, streaming: false },
    config: { agents, toolPolicy: rules },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
  })
  const { world, ledger } = house.telegram
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444, 555] })
  const heard = async (chat: number, words: string, after = 0): Promise<string> =>
    (await ledger.nextFromBot('sent', { after, where: ({ chatId, text }) => chatId === chat && text.includes(words) }))
      .text
  const say = async (from: number, text: string, words: string, chat = from): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text, ...(chat === from ? {} : { chat }) })
    return heard(chat, words, after)
  }
  await say(111, 'hello', 'fine')
  await say(444, 'hello', 'fine')
  return { house, world, ledger, heard, say }
}

const shown = ({ world }: Awaited<ReturnType<typeof household>>, chat: number): number =>
  world.messages(chat, { by: 'bot' }).length

it('says a text elsewhere after the yes of an owner, once, and it is part of the conversation there', async () => {
  const scene = await household()
  const { say, heard, ledger, house } = scene
  const before = shown(scene, 444)
  const card = await say(111, `tell ${BOB} dinner at *seven*`, 'May I use')
  expect(shown(scene, 444)).toBe(before)
  const after = ledger.mark()
  await say(111, `/approve ${codeOf(card)}`, 'Allowed')
  expect(await heard(444, 'dinner', after)).toBe('dinner at seven')
  expect(await heard(111, 'it says', after)).toContain(`On its way to ${BOB}`)
  await say(444, 'what?', 'fine')
  expect(shown(scene, 444)).toBe(before + 2)
  expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)).toContain('dinner at seven')
})

it('is denied to whoever may not write there, whatever the policy allows, unless an owner agrees', async () => {
  const scene = await household([{ tools: ['send_message'], who: ['everybody'], action: 'allow' }])
  const { say } = scene
  const [ada, bob] = [shown(scene, 111), shown(scene, 444)]
  expect(await say(444, 'tell telegram:direct:111 pay me', 'it says')).toContain('There is no conversation')
  expect(await say(555, `tell ${BOB} pay me`, 'it says')).toMatch(/no conversation|Denied/)
  expect(await say(555, `@parley_bot tell ${BOB} pay me`, 'it says', GROUP)).toMatch(/no conversation|Denied/)
  expect([shown(scene, 111), shown(scene, 444)]).toEqual([ada, bob + 1])
  expect(await say(111, `tell ${BOB} hi`, 'it says')).toContain('On its way')
})

it.each([
  ['tell telegram:direct:999 hi', 'There is no conversation telegram:direct:999'],
  [`tell ${BOB} ${'x'.repeat(4_000)}`, 'On its way'],
])('%.40s is answered', async (words, answer) => {
  const { say } = await household([{ tools: ['send_message'], who: ['owner'], action: 'allow' }])
  expect(await say(111, words, 'it says')).toContain(answer)
})
