import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const CHATS = 30
const RETRIED = 'The model call failed and is tried again'
const NOTICE = 'My language model is overloaded right now; please try again in a few minutes.'
const USAGE = { input_tokens: 50, output_tokens: 10 }
/** The longest a call waits before its second and third try, in ms. */
const WAITS = [3_000, 12_000] as const

it('F-B21: a model that is overloaded for 20 minutes is one notice for each of 30 chats, costs nothing, and answers each once it is back', {
  timeout: 120_000,
}, async () => {
  const [clock, log] = [setClock('2026-11-26T12:00:00Z'), new AwaitedLog()]
  let overloaded = true
  const script: Script = () =>
    overloaded ? { error: { status: 529, type: 'overloaded_error' } } : textReply('fine', { usage: USAGE })
  const prices = { 'anthropic/rehearsal': { input: 1, output: 1 } }
  const { telegram, dataDir } = await startHousehold({
    ...{ script, streaming: false, clock, logger: log },
    config: {
      agents: [
        { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be calm.', tools: [], answerTokens: 100 },
      ],
      budgets: { timezone: 'UTC', warnAt: 1, prices, total: { day: { tokens: 10_000_000 } } },
    },
  })
  const { world } = telegram
  const chats = Array.from(
    { length: CHATS },
    (_, n) => world.addChat({ type: 'supergroup', title: `Club ${n}`, members: [111] }).id,
  )
  const sayAll = () => {
    for (const chat of chats) world.say({ from: 111, chat, text: '@parley_bot hello' })
  }
  const expectAll = async (texts: readonly string[]) => {
    for (const chat of chats)
      await expect
        .poll(
          () => world.messages(chat, { by: 'bot' }).map(({ message }) => message.text?.replace(/ \(tr_\w+\)$/, '')),
          { timeout: 60_000 },
        )
        .toEqual(texts)
  }
  let retries = 0
  /** Has a call of each chat fail for good; returns how long each waited before its second try and its third. */
  const failAll = async () => {
    const waited: number[][] = []
    for (const longest of WAITS) {
      await log.line(RETRIED, { nth: retries + CHATS })
      const lines = log.lines.filter(({ sentence }) => sentence === RETRIED).slice(retries)
      waited.push(lines.map(({ fields }) => Number(fields.waitMs)))
      retries += CHATS
      clock.skip(longest)
    }
    return waited
  }

  sayAll()
  const waited = await failAll()
  await expectAll([NOTICE])
  for (const [at, longest] of WAITS.entries()) {
    expect(waited[at]).toHaveLength(CHATS)
    expect(waited[at]?.every((ms) => ms >= longest / 3 && ms <= longest)).toBe(true)
    expect(new Set(waited[at]).size, 'they do not come back together').toBeGreaterThan(CHATS / 2)
  }
  sayAll()
  await failAll()
  await log.line('A turn failed', { nth: 2 * CHATS })
  overloaded = false
  clock.skip(20 * 60_000)
  sayAll()
  await expectAll([NOTICE, 'fine'])
  const spent = withDatabase(join(dataDir, 'parley.db'), (database) =>
    database.prepare('SELECT tokens, held_tokens FROM budget_counts').get(),
  )
  expect(spent).toEqual({ tokens: CHATS * 60, held_tokens: 0 })
})
