import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

/** Asks for the time before it answers whoever asks for it. */
const script: Script = (request) =>
  lastUserText(request).startsWith('what time')
    ? { blocks: [{ type: 'tool_use', name: 'current_time', input: {} }] }
    : textReply(`answer to ${request.messages.length}`)

/** Longer than the least prompt that is kept. */
const prompt = 'You are Parley, the helper of a household. '.repeat(120)

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt, tools: ['time'] }]

async function talk(texts: readonly string[]) {
  const clock = setClock('2026-11-21T10:00:00Z')
  const { telegram, anthropic } = await startHousehold({ script, clock, streaming: false, config: { agents } })
  for (const text of texts) {
    clock.setBy(60_000)
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 111, text })
    await telegram.ledger.nextFromBot('sent', { after: mark })
  }
  return { requests: anthropic?.ledger.requests() ?? [], ledger: anthropic?.ledger }
}

/** A request as the provider keeps it: in order, and without the marks that say how far. */
function bytesOf({ tools, system, messages }: { tools?: unknown; system?: unknown; messages: readonly unknown[] }) {
  const unmarked = (value: unknown) => JSON.stringify(value).replaceAll(',"cache_control":{"type":"ephemeral"}', '')
  return { before: unmarked([tools, system]), messages: messages.map(unmarked) }
}

describe('a prompt that the provider keeps', () => {
  it('the first request of a turn begins with the bytes of the one before, minutes later', async () => {
    const { requests } = await talk(['hello', 'what time is it?', 'thanks', 'bye'])
    const first = requests.map(bytesOf).filter(({ messages }) => !messages.at(-1)?.includes('tool_result'))
    expect(first).toHaveLength(4)
    for (const [index, { before, messages }] of first.entries()) {
      const earlier = first[index - 1]
      if (earlier === undefined) continue
      expect(before).toBe(earlier.before)
      expect(messages.slice(0, earlier.messages.length)).toEqual(earlier.messages)
      expect(messages).toHaveLength(earlier.messages.length + 2)
    }
  })

  it('is read again and not paid in full', async () => {
    const { ledger } = await talk(['hello', 'what time is it?', 'bye'])
    const usages = ledger?.all((entry) => entry.kind === 'ended').map(({ usage }) => usage)
    const [written = 0, ...read] = (usages ?? []).map((usage, at) =>
      at === 0 ? usage?.cache_creation_input_tokens : usage?.cache_read_input_tokens,
    )
    expect(written).toBeGreaterThan(1_024)
    expect(read).toHaveLength(3)
    for (const tokens of read) expect(tokens).toBeGreaterThanOrEqual(written)
  })

  it('is read again in another chat, whose names stand behind it', async () => {
    const { telegram, anthropic } = await startHousehold({ script, config: { agents } })
    const usages: (number | undefined)[] = []
    for (const title of ['Kitchen', 'Garden']) {
      const { id: chat } = telegram.world.addChat({ type: 'supergroup', title, members: [111] })
      const mark = telegram.ledger.mark()
      telegram.world.say({ from: 111, chat, text: '@parley_bot hello' })
      await telegram.ledger.nextFromBot('sent', { after: mark })
      const ended = anthropic?.ledger.all((entry) => entry.kind === 'ended').at(-1)
      usages.push(ended?.usage?.cache_creation_input_tokens, ended?.usage?.cache_read_input_tokens)
    }
    const asked = anthropic?.ledger.requests().map(({ system }) => JSON.stringify(system)) ?? []
    expect(asked).toEqual([expect.stringContaining('\\"Kitchen\\"'), expect.stringContaining('\\"Garden\\"')])
    const [, , written = 0, read = 0] = usages
    expect(read).toBeGreaterThan(1_024)
    expect(written).toBeLessThan(200)
  })
})
