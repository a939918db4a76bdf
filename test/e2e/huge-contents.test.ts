import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startHousehold } from './household.ts'

const MEGABYTE = 1024 * 1024

/** Returns 50 MB. */
const flood: Tool = {
  spec: { name: 'flood', description: 'Returns a lot.', parameters: { type: 'object', properties: {} } },
  class: 'pure',
  reach: 'inside',
  run: () => Promise.resolve('x'.repeat(50 * MEGABYTE)),
}

/** A text in pieces as a model's API sends them, but fewer. */
const inPieces = (text: string): readonly string[] => text.match(/.{1,65536}/gs) ?? []

describe('F-D06: what is far too long is cut by rule, and says so', () => {
  it('a tool that returns 50 MB: the model is shown the beginning and how much was left out', async () => {
    const script: Script = (request) =>
      lastUserText(request) === 'flood'
        ? { blocks: [{ type: 'tool_use', name: 'flood', input: {} }] }
        : textReply('done')
    const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You are Parley.', tools: ['wet'] }
    const config = { agents: [agent] }
    const { telegram, anthropic } = await startHousehold({ streaming: false, script, config, tools: { wet: [flood] } })
    telegram.world.say({ from: 111, text: 'flood' })
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'done' })
    const [shown = ''] = (anthropic?.ledger.requests() ?? []).map(lastUserText).slice(-1)
    expect(shown.length).toBeLessThan(200_100)
    expect(shown).toMatch(/^x{200000}\n\[cut: 52228800 more characters\]$/)
  })

  it('an answer of 10 MB: 20 messages, the last of which says so, and the next message is answered', async () => {
    const line = `${'word '.repeat(20)}\n`
    const answer = line.repeat(Math.ceil((10 * MEGABYTE) / line.length))
    const script: Script = (request) =>
      lastUserText(request) === 'at length' ? textReply(answer, { split: inPieces }) : textReply('short')
    const { telegram } = await startHousehold({ script, streaming: false })
    telegram.world.say({ from: 111, text: 'at length' })
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('cut after 20 messages') })
    telegram.world.say({ from: 111, text: 'and shorter?' })
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'short' })
    const texts = telegram.world.messages(111, { by: 'bot' }).map(({ message }) => message.text ?? '')
    expect(texts).toHaveLength(21)
    expect(texts[19]).toMatch(/… cut after 20 messages; the history of this conversation has the whole$/)
  })

  it('5,000 messages in a group before one that asks: the newest are shown, none of it is lost in the log', async () => {
    const script: Script = () => textReply('here')
    const { telegram, anthropic, daemon } = await startHousehold({ script })
    const { world, ledger } = telegram
    const { id: chat } = world.addChat({ type: 'supergroup', title: 'Club', members: [111, 444] })
    for (let count = 1; count <= 5000; count++) world.say({ from: 444, chat, text: `said ${count}.` })
    world.say({ from: 444, chat, text: '@parley_bot what was said?' })
    await ledger.nextFromBot('sent', { where: ({ text }) => text === 'here' })
    const [shown = ''] = (anthropic?.ledger.requests() ?? []).map(lastUserText)
    const shownOf = shown.split('\n').flatMap((line) => /said (\d+)\.$/.exec(line)?.[1] ?? [])
    expect(shownOf).toEqual(Array.from({ length: 50 }, (_, at) => String(4951 + at)))
    expect(shown.length).toBeLessThan(5_000)
    const [session] = (await daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: false })).sessions
    const { events } = await daemon.operator.sessions.history(session?.id ?? '', { before: 4, limit: 3 })
    expect(JSON.stringify(events)).toContain('said 1.')
  })
})
