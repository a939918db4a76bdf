import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { owner, policy } from '../fakes/routing-policy.ts'
import { heldHook } from './held-hook.ts'
import { recorded, startHousehold } from './household.ts'

const echo: Script = (request) => textReply(`heard: ${lastUserText(request)}`)

/** Ada owns the agent; Cy has said two things and is let in, and a hook holds the first of them. */
async function letIn() {
  const { hook, asked, answer } = await heldHook('before_save', { held: 'the first word' })
  const routing = policy({ people: [owner('ada', 'telegram:111')] })
  const home = await startHousehold({ script: echo, streaming: false, routing, config: { hooks: [hook] } })
  const { world, ledger } = home.telegram
  const sent = (chat: number, words: string, after = 0) =>
    ledger.nextFromBot('sent', { after, where: (one) => one.chatId === chat && one.text.includes(words) })
  world.say({ from: 111, text: 'hello' })
  await sent(111, 'hello')
  const first = world.say({ from: 555, text: 'the first word' })
  const second = world.say({ from: 555, text: 'a kilo of flour' })
  await sent(555, 'only talk to people')
  const { text } = await sent(111, 'asks to talk to me')
  await recorded(home)
  const after = ledger.mark()
  world.say({ from: 111, text: `/admit ${/\/admit ([a-z0-9]{5})/.exec(text)?.[1]}` })
  await asked
  return { home, world, first, second, answer, sent: (words: string) => sent(555, words, after) }
}

it('R8: what was said before an admission is answered as it was edited while a hook holds what came before it', async () => {
  const { home, world, second, answer, sent } = await letIn()
  world.edit({ chat: 555, message: second.message_id, text: 'two kilos of flour' })
  // Commands wait for no hook and are answered in order: the edit has come.
  world.say({ from: 555, text: '/whoami' })
  await sent('telegram:555')
  answer()
  await sent('two kilos of flour')
  await recorded(home)
  world.say({ from: 555, text: 'what did I say?' })
  await sent('what did I say?')
  expect(JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('a kilo of flour')
})

it('R8, F-C07: a message of a group that got a new id is read as edited, and one of before with its number is not', async () => {
  const routing = policy({ people: [owner('ada', 'telegram:111')] })
  const home = await startHousehold({ script: echo, streaming: false, routing })
  const { world, ledger } = home.telegram
  const sent = (chat: number, words: string, after = 0) =>
    ledger.nextFromBot('sent', { after, where: (one) => one.chatId === chat && one.text.includes(words) })
  world.say({ from: 111, text: 'hello' })
  await sent(111, 'hello')
  const { id: old } = world.addChat({ type: 'group', title: 'Family', id: -2001, members: [111, 444, 555] })
  world.say({ from: 555, chat: old, text: 'good morning' })
  const { text } = await sent(111, 'Family')
  const before = world.say({ from: 555, chat: old, text: '@parley_bot a kilo of flour' })
  const { id: chat } = world.migrate(old)
  const now = world.say({ from: 555, chat, text: '@parley_bot a litre of milk' })
  expect(now.message_id).toBe(before.message_id)
  const edit = world.edit({ chat, message: now.message_id, text: '@parley_bot two litres of milk' })
  await ledger.confirmed(ledger.updateIdOf(edit))
  const after = ledger.mark()
  world.say({ from: 111, text: `/admit ${/\/admit ([a-z0-9]{5})/.exec(text)?.[1]}` })
  await sent(chat, 'a kilo of flour', after)
  await sent(chat, 'two litres of milk', after)
  expect(world.messages(chat, { by: 'bot' }).map(({ message }) => message.text)).not.toContain('a litre of milk')
})
