import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { heldHook } from './held-hook.ts'
import { startSlackHousehold } from './slack-household.ts'

it('R8: what is edited while a thread is read and a hook is asked about it is shown as it was edited', async () => {
  const { hook, asked, answer } = await heldHook('before_save', { held: 'the boiler leaks' })
  const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)
  const home = await startSlackHousehold({ script, config: { hooks: [hook] } })
  const { world, ledger } = home.slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  world.setMember(channel, false)
  const root = world.say({ from: 'U444', channel, text: 'the boiler leaks' })
  const reply = world.say({ from: 'U444', channel, thread: root, text: 'since Monday' })
  world.setMember(channel, true)
  const after = ledger.mark()
  world.say({ from: 'U333', channel, thread: root, text: '<@U0BOT> what now?' })
  await asked
  world.edit({ channel, message: reply.ts, text: 'since Tuesday' })
  // Commands wait for no hook and are answered in order: the edit has come.
  world.say({ from: 'U333', channel, text: '<@U0BOT> !whoami' })
  await ledger.next((entry) => (entry.kind === 'message' && entry.byBot) || entry.kind === 'whisper', { after })
  answer()
  await ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes('what now?'), { after })
  const prompt = JSON.stringify(home.anthropic.ledger.requests().at(-1)?.messages)
  expect(prompt).toContain('since Tuesday')
  expect(prompt).not.toContain('since Monday')
})
