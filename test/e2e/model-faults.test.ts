import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { playReplies, type Reply, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startHousehold } from './household.ts'

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
    says: 'Something went wrong on my side.',
    code: 'model_failed',
  },
]

/** A calm line ends with the trace id under which the log has the cause. */
const CALM = /^(?<says>.*) \((?<traceId>tr_\w+)\)$/

describe('a model that fails', () => {
  for (const { what, reply, says, code } of CASES) {
    it(`C16: ${what}: one calm line, and the log has the cause under its trace id`, async () => {
      const logger = new AwaitedLog()
      const { telegram } = await startHousehold({ logger, script: playReplies(reply, textReply('better now')) })
      telegram.world.say({ from: 111, text: 'hello' })
      const { text } = await telegram.ledger.nextFromBot('sent')
      const { groups } = CALM.exec(text) ?? {}
      expect(groups?.says).toContain(says)
      const { fields } = await logger.line('A turn failed')
      expect(fields.traceId).toBe(groups?.traceId)
      expect(String(fields.code)).toContain(code)

      telegram.world.say({ from: 111, text: 'and now?' })
      await telegram.ledger.nextFromBot('sent', { where: (entry) => entry.text === 'better now' })
      expect(telegram.world.messages(111, { by: 'bot' })).toHaveLength(2)
    })
  }

  it('C16: stalls: one calm line, and other conversations are answered meanwhile', async () => {
    const scriptFolder = mkdtempSync(join(tmpdir(), 'parley-script-'))
    onTestFinished(() => rmSync(scriptFolder, { recursive: true }))
    const rules = [
      { when: { contains: 'stall' }, steps: [{ text: 'Well', stallMs: 300 }] },
      { steps: [{ text: 'fine' }] },
    ]
    writeFileSync(join(scriptFolder, 'stalling.json'), JSON.stringify({ rules }))
    const agents = [{ id: toAgentId('main'), model: 'scripted/stalling.json', prompt: '', tools: [] }]
    const { telegram } = await startHousehold({ config: { scriptFolder, agents } })
    telegram.world.say({ from: 111, text: 'please stall' })
    telegram.world.say({ from: 444, text: 'and I?' })
    const [first, second] = await telegram.ledger.collect(
      2,
      (entry) => entry.kind === 'message' && entry.botId !== null && entry.change === 'sent',
    )
    expect(first).toMatchObject({ chatId: 444, text: 'fine' })
    expect(second).toMatchObject({ chatId: 111, text: expect.stringMatching(/^My language model stopped answering/) })
  })
})
