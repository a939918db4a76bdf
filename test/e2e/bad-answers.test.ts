import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import * as anthropic from '../../src/rehearsal/anthropic/script.ts'
import * as openai from '../../src/rehearsal/openai/script.ts'
import { rehearse } from '../rehearsal/openai/rehearsal.ts'
import { shareOf } from '../sample.ts'
import { startHousehold } from './household.ts'

/** An answer as both providers can give it. */
interface BadAnswer {
  readonly text?: string
  readonly call?: { readonly name: string; readonly args: Readonly<Record<string, unknown>> | string }
  readonly stop?: 'length' | 'refused' | 'unknown'
  /** The connection breaks before this piece. */
  readonly cutAt?: number
}

interface Case {
  readonly what: string
  /** The answers to the requests of the turn, the last one again and again. */
  readonly answers: readonly BadAnswer[]
  /** The one message that people read. */
  readonly says: RegExp
}

const TRACE = String.raw` \(tr_\w+\)$`

/** As text, for this program could not write it either. */
function nested(levels: number): string {
  return `${'{"from":'.repeat(levels)}"one"${'}'.repeat(levels)}`
}

const CASES: readonly Case[] = [
  { what: 'answers nothing', answers: [{}], says: new RegExp(`^I could not come up with an answer.*${TRACE}`) },
  { what: 'declines', answers: [{ stop: 'refused' }], says: new RegExp(`^I cannot help with that\\.${TRACE}`) },
  { what: 'is cut at its limit', answers: [{ text: 'The first half', stop: 'length' }], says: /^The first half$/ },
  { what: 'ends for a reason nobody knows', answers: [{ text: 'All of it.', stop: 'unknown' }], says: /^All of it\.$/ },
  {
    what: 'breaks off in the middle of a call',
    answers: [{ text: 'Let me see.', call: { name: 'count', args: { from: 'one', to: 'a hundred' } }, cutAt: 2 }],
    says: /^The connection to my language model failed|^Let me see\.\n\nThe answer broke off here/,
  },
  {
    what: 'is cut at its limit in the middle of a call',
    answers: [{ text: 'Let me see.', call: { name: 'count', args: {} }, stop: 'length' }],
    says: /^Let me see\.\n\nI stopped here because my steps are longer than the \d+ tokens/,
  },
  {
    what: 'calls a tool that there is not',
    answers: [{ call: { name: 'launch', args: {} } }, { text: 'Then without it.' }],
    says: /^Then without it\.$/,
  },
  {
    what: 'gives a tool something else than it takes',
    answers: [{ call: { name: 'count', args: { to: 7 } } }, { text: 'Then otherwise.' }],
    says: /^Then otherwise\.$/,
  },
  {
    what: 'gives a tool half an object',
    answers: [{ call: { name: 'count', args: '{"from": "on' } }, { text: 'Then otherwise.' }],
    says: /^Then otherwise\.$/,
  },
  {
    what: 'gives a tool an object in an object, thousands of them',
    answers: [{ call: { name: 'count', args: nested(20_000) } }, { text: 'Then otherwise.' }],
    says: /^Then otherwise\.$/,
  },
  {
    what: 'makes the same call again and again',
    answers: [{ call: { name: 'count', args: { from: 'one' } } }],
    says: /^I stopped here because I kept repeating the same step\.$/,
  },
]

let ran = 0
const count: Tool = {
  spec: {
    name: 'count',
    description: 'Counts.',
    parameters: { type: 'object', properties: { from: { type: 'string' } }, required: ['from'] },
  },
  class: 'pure',
  reach: 'inside',
  run: async () => String(++ran),
}

function byAnthropic({ text, call, stop, cutAt }: BadAnswer): anthropic.Reply {
  const stops = { length: 'max_tokens', refused: 'refusal', unknown: 'a_reason_of_tomorrow' } as const
  const input =
    typeof call?.args === 'string' ? (JSON.parse(nested(150)) as Readonly<Record<string, unknown>>) : (call?.args ?? {})
  return {
    blocks: [
      ...(text === undefined ? [] : [{ type: 'text', text } as const]),
      ...(call === undefined ? [] : [{ type: 'tool_use', name: call.name, input } as const]),
    ],
    ...(stop === undefined ? {} : { stopReason: stops[stop] as anthropic.StopReason }),
    ...(cutAt === undefined ? {} : { interrupt: { kind: 'cut', afterDelta: cutAt } as const }),
  }
}

function byOpenAi({ text, call, stop, cutAt }: BadAnswer): openai.Reply {
  const stops = { length: 'length', refused: 'content_filter', unknown: 'a_reason_of_tomorrow' } as const
  return {
    parts: [
      ...(text === undefined ? [] : [{ type: 'text', text } as const]),
      ...(call === undefined ? [] : [{ type: 'tool_call', name: call.name, arguments: call.args } as const]),
    ],
    ...(stop === undefined ? {} : { finishReason: stops[stop] as openai.FinishReason }),
    ...(cutAt === undefined ? {} : { interrupt: { kind: 'cut', afterDelta: cutAt } as const }),
  }
}

const BETTER = 'and now?'

/** Starts a daemon whose model answers `go` as the case says, and everything else as it should. */
async function house(provider: 'anthropic' | 'openai', answers: readonly BadAnswer[]) {
  let asked = 0
  const next = (): BadAnswer => answers[Math.min(asked++, answers.length - 1)] ?? {}
  const config = (model: string) => ({
    agents: [{ id: toAgentId('main'), model, prompt: 'Be brief.', tools: ['own'] }],
  })
  const tools = { own: [count] }
  if (provider === 'anthropic') {
    const script: anthropic.Script = (request) =>
      anthropic.lastUserText(request).includes(BETTER) ? anthropic.textReply('fine') : byAnthropic(next())
    return startHousehold({ script, tools, streaming: false, config: config('anthropic/rehearsal') })
  }
  const script: openai.Script = (request) =>
    openai.lastUserText(request).includes(BETTER) ? openai.textReply('fine') : byOpenAi(next())
  const server = await rehearse({ script, models: ['gpt-5.4'] })
  const models = { openai: { kind: 'openai' as const, apiKey: new Secret(server.apiKey), baseUrl: server.baseUrl } }
  return startHousehold({ tools, streaming: false, config: { ...config('openai/gpt-5.4'), models } })
}

const PROVIDERS = ['anthropic', 'openai'] as const

describe.each(PROVIDERS)('a model of %s', (provider) => {
  it.each(shareOf(CASES, PROVIDERS.indexOf(provider), PROVIDERS.length))(
    'that $what: people read one message, and the next one is answered',
    async ({ answers, says }) => {
      const { telegram } = await house(provider, answers)
      telegram.world.say({ from: 111, text: 'go' })
      const first = await telegram.ledger.nextFromBot('sent', {})
      expect(first.text).toMatch(says)
      telegram.world.say({ from: 111, text: BETTER })
      await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'fine' })
      expect(telegram.world.messages(111, { by: 'bot' }).map(({ message }) => message.text)).toEqual([
        first.text,
        'fine',
      ])
    },
  )
})
