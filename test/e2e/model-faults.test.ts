import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { playReplies, type Reply, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { AwaitedLog } from './awaited-log.ts'
import { recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

interface Case {
  readonly what: string
  readonly reply: Reply
  readonly says: string
  readonly code: string
}

const CASES: readonly Case[] = [
  {
    what: 'refuses the key',
    reply: { error: { status: 401, type: 'authentication_error' } },
    says: 'I could not sign in to my language model.',
    code: 'model_auth',
  },
  {
    what: 'says nothing',
    reply: textReply(''),
    says: 'I could not come up with an answer; please try again.',
    code: 'model_empty',
  },
  {
    what: 'declines',
    reply: textReply('', { stopReason: 'refusal' }),
    says: 'I cannot help with that.',
    code: 'model_refused',
  },
  {
    what: 'breaks off in the middle',
    reply: textReply('half of the answer', { interrupt: { kind: 'cut', afterDelta: 1 } }),
    says: 'The connection to my language model failed; please try again in a few minutes.',
    code: 'model_failed',
  },
]

const HOUR_MS = 3_600_000

/** A calm line ends with the trace id under which the log has the cause. */
const CALM = /^(?<says>.*) \((?<traceId>tr_\w+)\)$/

it('a model whose key is missing is in the status from the start, with the remedy', async () => {
  const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'You are Parley.', tools: [] }]
  const { daemon } = await startHousehold({ config: { agents, models: {} } })
  expect((await daemon.operator.status()).modelServers).toMatchObject([
    {
      ...{ name: 'anthropic', agents: ['main'] },
      troubles: [
        {
          models: ['claude-haiku-4-5'],
          code: 'model_unconfigured',
          cause: expect.stringContaining('ANTHROPIC_API_KEY'),
        },
      ],
    },
  ])
})

describe('a model that fails', () => {
  for (const { what, reply, says, code } of CASES) {
    it(`F-C15, C16: ${what}: one calm line, and the log has the cause under its trace id`, async () => {
      const logger = new AwaitedLog()
      // An empty answer is tried again once.
      const again = code === 'model_empty' ? [reply] : []
      const { telegram } = await startHousehold({
        logger,
        script: playReplies(reply, ...again, textReply('better now')),
      })
      telegram.world.say({ from: 111, text: 'hello' })
      const { text } = await telegram.ledger.nextFromBot('sent', { where: (entry) => CALM.test(entry.text) })
      const { groups } = CALM.exec(text) ?? {}
      expect(groups?.says).toContain(says)
      const { fields } = await logger.line('A turn failed')
      expect(fields.traceId).toBe(groups?.traceId)
      expect(String(fields.code)).toContain(code)

      telegram.world.say({ from: 111, text: 'and now?' })
      await telegram.ledger.nextFromBot('sent', { where: (entry) => entry.text === 'better now' })
      const told = telegram.world
        .messages(111, { by: 'bot' })
        .filter(({ message }) => !message.text?.startsWith('The model '))
      expect(told).toHaveLength(2)
    })
  }

  it('F-C15, C16: for good: the owner is notified once with cause and remedy, and status has them until it answers', async () => {
    const refused: Reply = { error: { status: 401, type: 'authentication_error' } }
    const logger = new AwaitedLog()
    const script = playReplies(refused, refused, textReply('better now'))
    const { telegram, daemon } = await startHousehold({ logger, script })
    const { world, ledger } = telegram
    const notices = () =>
      world.messages(111, { by: 'bot' }).filter(({ message }) => message.text?.startsWith('The model '))
    const { message_id } = world.say({ from: 111, text: 'hello' })
    const { text } = await ledger.nextFromBot('sent', { where: (entry) => entry.text.startsWith('The model ') })
    expect(text).toMatch(
      /^The model anthropic\/rehearsal cannot answer: 127\.0\.0\.1:\d+ answered 401: .*Set a valid key/,
    )
    await ledger.nextFromBot('sent', { where: (entry) => CALM.test(entry.text) })
    world.say({ from: 111, text: 'and now?' })
    await logger.line('A turn failed', { nth: 2 })
    const { modelServers } = await daemon.operator.status()
    expect(modelServers).toMatchObject([{ troubles: [{ models: ['rehearsal'], code: 'model_auth' }] }])

    world.say({ from: 111, text: 'and at last?' })
    await ledger.nextFromBot('sent', { where: (entry) => entry.text === 'better now' })
    expect((await daemon.operator.status()).modelServers).toMatchObject([{ name: 'anthropic', troubles: [] }])
    const [why] = await daemon.operator.why(String(message_id))
    expect(why?.summary).toMatch(
      /^Not answered: the model provider refused the key; set a valid key in models\.anthropic\.apiKey .*\.$/,
    )
    const remedy = expect.stringMatching(/^Set a valid key in models\.anthropic\.apiKey \(or ANTHROPIC_API_KEY\) and/)
    expect(why?.failure).toMatchObject({ code: 'model_auth', remedy })
    expect(notices()).toHaveLength(1)
    // The second failure adds no line: the conversation knows already.
    expect(world.messages(111, { by: 'bot' }).filter(({ message }) => CALM.test(message.text ?? ''))).toHaveLength(1)
  })

  it('C45: the next model of the chain answers in its place, and status names the one that fails', async () => {
    const agents = [
      { id: toAgentId('main'), model: 'anthropic/rehearsal', fallback: ['scripted/echo'], prompt: '', tools: [] },
    ]
    const refused: Reply = { error: { status: 401, type: 'authentication_error' } }
    const { telegram, daemon } = await startHousehold({ config: { agents }, script: playReplies(refused, refused) })
    for (const text of ['hello', 'and now?']) {
      telegram.world.say({ from: 111, text })
      await telegram.ledger.nextFromBot('sent', { where: (entry) => entry.text === `echo ${text}` })
    }
    const { modelServers } = await daemon.operator.status()
    expect(modelServers).toMatchObject([
      { name: 'anthropic', troubles: [{ models: ['rehearsal'], code: 'model_auth' }] },
    ])
  })

  it('F-C15, C16: stalls: one calm line, and other conversations are answered meanwhile', async () => {
    const scriptFolder = mkdtempSync(join(tmpdir(), 'parley-script-'))
    onTestFinished(() => rmSync(scriptFolder, { recursive: true }))
    const rules = [
      { when: { contains: 'stall' }, steps: [{ text: 'Well', stallMs: HOUR_MS }] },
      { steps: [{ text: 'fine' }] },
    ]
    writeFileSync(join(scriptFolder, 'stalling.json'), JSON.stringify({ rules }))
    const agents = [{ id: toAgentId('main'), model: 'scripted/stalling.json', prompt: '', tools: [] }]
    const clock = setClock('2026-11-21T12:00Z')
    const stalled = clock.timerOf(HOUR_MS)
    const house = await startHousehold({ config: { scriptFolder, agents }, clock, streaming: false })
    const { world, ledger } = house.telegram
    world.say({ from: 111, text: 'please stall' })
    world.say({ from: 444, text: 'and I?' })
    expect(await ledger.nextFromBot('sent')).toMatchObject({ chatId: 444, text: 'fine' })
    await stalled
    await recorded(house)
    const mark = ledger.mark()
    clock.skip(HOUR_MS)
    expect(await ledger.nextFromBot('sent', { after: mark })).toMatchObject({
      chatId: 111,
      text: expect.stringMatching(/^My language model stopped answering/),
    })
  })
})
