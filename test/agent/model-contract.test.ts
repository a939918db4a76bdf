import { createAnthropic } from '../../src/agent/models/anthropic.ts'
import { createOpenAi } from '../../src/agent/models/openai.ts'
import { playScript } from '../../src/agent/models/scripted/play-script.ts'
import type { ScriptStep } from '../../src/agent/models/scripted/script.ts'
import { createTraitBook, type TraitBook } from '../../src/agent/models/traits.ts'
import type { Model } from '../../src/core/model.ts'
import { type Reply as AnthropicReply, playReplies as playBlocks } from '../../src/rehearsal/anthropic/script.ts'
import { startAnthropicServer } from '../../src/rehearsal/anthropic/server.ts'
import { refusal } from '../../src/rehearsal/openai/refusals.ts'
import { DIALECTS, type DialectName } from '../../src/rehearsal/openai/refused.ts'
import { playReplies, type Reply } from '../../src/rehearsal/openai/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { type Behaviour, type ModelRig, modelContract, pictureStore } from '../contracts/model-contract.ts'
import { movedClock } from './moved-clock.ts'

/** The texts are cut where the behaviour says; whatever else is streamed comes whole. */
function splitAt(texts: readonly string[]): (text: string) => readonly string[] {
  return (text) => (text === texts.join('') ? texts : [text])
}

const INTERRUPTS = { silence: 'stall', break: 'cut' } as const

function anthropicReply(behaviour: Behaviour): AnthropicReply {
  if ('fails' in behaviour) {
    return { error: { status: 400, type: 'invalid_request_error', message: 'prompt is too long: 9 > 8' } }
  }
  const { texts } = behaviour
  const text = { type: 'text', text: texts.join('') } as const
  const answer = { blocks: [text], split: splitAt(texts) }
  if ('after' in behaviour) {
    return { ...answer, interrupt: { kind: INTERRUPTS[behaviour.after], afterDelta: texts.length } }
  }
  const { calls = [], stop, thoughts } = behaviour
  const asked = calls.map(({ name, args }) => ({ type: 'tool_use' as const, name, input: args }))
  const thought = thoughts === undefined ? [] : [{ type: 'thinking' as const, thinking: thoughts }]
  const reasons = { length: 'max_tokens', refused: 'refusal' } as const
  return { ...answer, blocks: [...thought, text, ...asked], ...(stop ? { stopReason: reasons[stop] } : {}) }
}

function openAiReply(behaviour: Behaviour, dialect: DialectName): Reply {
  if ('fails' in behaviour) return refusal('tooLong', dialect)
  const { texts } = behaviour
  const text = { type: 'text', text: texts.join('') } as const
  const answer = { parts: [text], split: splitAt(texts) }
  if ('after' in behaviour) {
    return { ...answer, interrupt: { kind: INTERRUPTS[behaviour.after], afterDelta: texts.length } }
  }
  const { calls = [], stop, thoughts } = behaviour
  const asked = calls.map(({ name, args }) => ({ type: 'tool_call' as const, name, arguments: args }))
  const thought = thoughts === undefined ? [] : [{ type: 'reasoning' as const, reasoning: thoughts }]
  const reasons = { length: 'length', refused: 'content_filter' } as const
  return { ...answer, parts: [...thought, text, ...asked], ...(stop ? { finishReason: reasons[stop] } : {}) }
}

function scriptStep(behaviour: Behaviour): ScriptStep {
  if ('fails' in behaviour) return { fail: behaviour.fails }
  const { texts } = behaviour
  const said = { text: texts.join(''), chunk: texts[0]?.length ?? 1 }
  if ('after' in behaviour) {
    return { ...said, ...(behaviour.after === 'silence' ? { stallMs: 60_000 } : { fail: 'model_failed' }) }
  }
  const { calls = [], stop } = behaviour
  return { ...said, calls: calls.map(({ name, args }) => ({ tool: name, args })), ...(stop ? { stop } : {}) }
}

modelContract('anthropic', async (): Promise<ModelRig> => {
  const server = await startAnthropicServer()
  const clock = movedClock()
  const { apiKey, baseUrl } = server
  return {
    clock,
    model: await createAnthropic({ apiKey, baseUrl, model: 'some-model', clock, media: pictureStore }),
    behave: (behaviour) => server.setScript(playBlocks(anthropicReply(behaviour))),
    shown: () => JSON.stringify(server.ledger.requests().at(-1)),
    anyIds: true,
    close: () => server.close(),
  }
})

/** A model of which is known that its text is no thought shows it at once. */
function streaming(): TraitBook {
  const traits = createTraitBook()
  traits.of('openai/some-model', ['thoughts-apart'])
  return traits
}

async function openAiRig(dialect: DialectName): Promise<ModelRig> {
  const server = await startOpenAiServer({ dialect })
  const clock = movedClock()
  const { apiKey, baseUrl } = server
  return {
    clock,
    model: await createOpenAi({
      apiKey,
      baseUrl,
      model: 'some-model',
      clock,
      media: pictureStore,
      traits: streaming(),
    }),
    behave: (behaviour) => server.setScript(playReplies(openAiReply(behaviour, dialect))),
    shown: () => JSON.stringify(server.ledger.requests().at(-1)),
    anyIds: true,
    close: () => server.close(),
  }
}

modelContract('openai', () => openAiRig('openai'))
for (const dialect of DIALECTS) {
  modelContract(`openai as ${dialect}`, () => openAiRig(dialect))
}

modelContract('scripted', async (): Promise<ModelRig> => {
  const clock = movedClock()
  let step: ScriptStep = {}
  const played = (): Model => playScript('scripted/contract.yaml', { rules: [{ steps: [step] }] }, clock)
  return {
    clock,
    model: { id: 'scripted/contract.yaml', stream: (request, signal) => played().stream(request, signal) },
    behave(behaviour) {
      step = scriptStep(behaviour)
    },
    close: async () => {},
  }
})
