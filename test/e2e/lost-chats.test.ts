import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { toAgentId, toPersonId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { household } from '../fakes/routing-policy.ts'
import { type HouseholdOptions, startHousehold } from './household.ts'
import { obedient, toolResult } from './obedient.ts'

const ADA = { id: toPersonId('ada'), role: 'owner', ids: ['telegram:111'] } as const
const CY = { id: toPersonId('cy'), role: 'owner', ids: ['telegram:555'] } as const

/** Says the secret of the conversation, if it was shown one. */
const telling: Script = ({ messages }) => {
  const [secret = 'nothing'] = /my secret is \w+/.exec(JSON.stringify(messages)) ?? []
  return textReply(`I know: ${secret}`)
}

async function home(options: HouseholdOptions) {
  const started = await startHousehold({ script: telling, streaming: false, ...options })
  const { telegram, daemon } = started
  const say = async (from: number, text: string): Promise<string> => {
    const after = telegram.ledger.mark()
    telegram.world.say({ from, text })
    return (await telegram.ledger.nextFromBot('sent', { after })).text
  }
  const joined = async () =>
    (await daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions[0]?.id ?? ''
  return { ...started, say, joined }
}

describe('a chat that was parted from a conversation that follows a person', () => {
  it('is delivered nothing of it any more, by whatever asks for that', async () => {
    const script: Script = (request, turn) =>
      lastUserText(request).startsWith('sessions_send') ? obedient()(request, turn) : telling(request, turn)
    const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: ['sessions'] }]
    const { say, joined, daemon, telegram } = await home({
      ...{ script, config: { agents }, routing: { direct: 'person', people: [ADA] } },
    })
    await daemon.operator.people.link('ada', 'telegram:555')
    await say(111, 'my secret is bluebird')
    await say(555, 'hello from the other phone')
    await daemon.operator.people.unlink('telegram:555')
    const mark = telegram.ledger.mark()
    const asked = daemon.operator.sessions.post(await joined(), { text: 'remind me', deliver: true })
    await expect(asked).rejects.toThrow(/was parted from it; nothing goes there/)
    expect(await say(111, 'still there?')).toContain('bluebird')
    const later = await daemon.operator.sessions.post(await joined(), { text: 'remind me', deliver: true })
    expect(later).toMatchObject({ status: 'ok' })
    expect(telegram.world.messages(555, { by: 'bot' }).map(({ message }) => message.text)).not.toContainEqual(
      expect.stringMatching(/remind/),
    )
    expect(mark).toBeDefined()
  })

  it('is sent no text from another conversation', async () => {
    const script: Script = (request) => {
      const result = toolResult(request)
      if (result !== undefined) return textReply(`it says: ${result}`)
      const [, to, text] = /tell (\S+) (.+)$/.exec(lastUserText(request)) ?? []
      if (to === undefined || text === undefined) return textReply('fine')
      return { blocks: [{ type: 'tool_use', name: 'send_message', input: { to, text } }] }
    }
    const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: ['message'] }]
    const toolPolicy = [{ tools: ['send_message'], who: ['owner'], action: 'allow' }] as const
    const groups = [{ match: {}, who: 'public', trigger: 'mention' }] as const
    const { say, daemon, telegram } = await home({
      ...{ script, config: { agents, toolPolicy } },
      routing: { direct: 'person', people: [ADA], access: { direct: 'allowlist', groups } },
    })
    const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Desk', members: [111] })
    await daemon.operator.people.link('ada', 'telegram:555')
    await say(111, 'hello')
    await say(555, 'hello from the other phone')
    await daemon.operator.people.unlink('telegram:555')
    const after = telegram.ledger.mark()
    telegram.world.say({ from: 111, chat, text: '@parley_bot tell direct:ada the code is 4711' })
    const where = ({ chatId }: { chatId: number }) => chatId === chat
    expect((await telegram.ledger.nextFromBot('sent', { after, where })).text).toContain('was parted from it')
    await daemon.stop()
    expect(JSON.stringify(telegram.world.messages(555, { by: 'bot' }))).not.toContain('4711')
  })

  it('is delivered nothing of the main session once its person is no owner', async () => {
    const reload = async () =>
      ({ routing: household({ direct: 'main', people: [ADA] }), warnings: [], down: [] }) as unknown as Config
    const { say, joined, daemon } = await home({ reload, routing: { direct: 'main', people: [ADA, CY] } })
    await say(111, 'my secret is bluebird')
    await say(555, 'hello')
    await daemon.operator.config.reload()
    const asked = daemon.operator.sessions.post(await joined(), { text: 'remind me', deliver: true })
    await expect(asked).rejects.toThrow(/was parted from it/)
  })
})

it('an id that was parted from somebody and is somebody else’s by now reads nothing of their conversation', async () => {
  const people = [ADA, { id: toPersonId('bob'), role: 'member', ids: ['telegram:444'] }] as const
  const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: ['sessions'] }]
  const { say, daemon } = await home({
    ...{ script: obedient(), config: { agents }, routing: { direct: 'person', people } },
  })
  await daemon.operator.people.link('ada', 'telegram:555')
  await say(555, 'hello from the tablet')
  await daemon.operator.people.unlink('telegram:555')
  await say(111, 'my secret is heron')
  await daemon.operator.people.link('bob', 'telegram:555')
  for (const name of ['direct:ada', 'agent:main:direct:ada'])
    expect(await say(444, `sessions_history {"sessionKey":"${name}"}`)).toContain('There is no session')
  const listed = await say(444, 'sessions_list {}')
  expect(listed.match(/"key":"[^"]*"/g)).toEqual(['"key":"direct:bob"'])
  expect(listed).not.toMatch(/heron|tablet/)
  expect(await say(444, 'hello')).toBeDefined()
  expect(await say(111, 'sessions_history {"sessionKey":"direct:ada"}')).toContain('heron')
})
