import { describe, expect, it } from 'vitest'
import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import { lastUserText, type ReplyBlock, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { textOf } from '../../src/rehearsal/openai/request.ts'
import { type Script as ChatScript, textReply as chatReply } from '../../src/rehearsal/openai/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

/** A model that is given a number of tokens to think: its API refuses a turn of tools that lacks the thoughts. */
const MODEL = 'anthropic/claude-haiku-4-5'
const THOUGHT: ReplyBlock = { type: 'thinking', thinking: 'A mark is wanted…', signature: 'c2lnbmVk/+==' }

/** The steps that were made in the turn so far. */
function stepsIn({ messages }: MessagesRequest): number {
  return messages.filter(({ role, content }) => role === 'assistant' && JSON.stringify(content).includes('tool_use'))
    .length
}

/** Thinks and calls a tool twice, one call after the other, then answers; small talk is answered at once. */
const thoughtful: Script = (request) => {
  const step = stepsIn(request)
  const isAsked = JSON.stringify(request.messages.at(-1)).includes('use your tools')
  if (step === 0 && !isAsked) return textReply(`heard ${lastUserText(request)}`)
  const thought = { ...THOUGHT, thinking: `${step}: ${THOUGHT.thinking}` }
  return step < 2 ? { blocks: [thought, { type: 'tool_use', name: 'probe_pure', input: { step } }] } : textReply('done')
}

/** The thoughts of a request, in their order. */
function thoughtsIn({ messages }: MessagesRequest): readonly unknown[] {
  return messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter(({ type }) => type === 'thinking'),
  )
}

const POINTS: readonly FailpointSpec[] = [
  'CP8-tool-running',
  'CP7-tool-intent',
  'CP9-tool-done-uncommitted',
  'CP8-tool-running:2',
  'CP7-tool-intent:2',
  'CP9-tool-done-uncommitted:2',
  'CP6-model-answer-uncommitted',
]

describe.concurrent('a kill between a thought and the result of its call', CASE, () => {
  for (const point of rounds(POINTS, 2)) {
    it(`C19, C26: ${point}: the turn continues to think, and its server is sent the thoughts of every step`, async (test) => {
      const scene = await startScene(test, { script: thoughtful, model: MODEL })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: '/think low' })
      await scene.sent('Thinking is low')
      scene.telegram.world.say({ from: ADA, text: 'use your tools' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('done')
      scene.telegram.world.say({ from: ADA, text: 'and now?' })
      await scene.sent('heard')
      await scene.finish()
      const requests = scene.anthropic.ledger.requests()
      const thought = (step: number) => ({ ...THOUGHT, thinking: `${step}: ${THOUGHT.thinking}` })
      expect(scene.anthropic.ledger.all(({ kind }) => kind === 'refused')).toEqual([])
      for (const request of requests) expect(request.thinking).toEqual({ type: 'enabled', budget_tokens: 2_048 })
      for (const request of requests)
        expect(thoughtsIn(request)).toEqual([thought(0), thought(1)].slice(0, stepsIn(request)))
      expect(requests.map(stepsIn)).toEqual(expect.arrayContaining([0, 1, 2]))
      expect(scene.texts(ADA).join()).not.toContain('A mark is wanted')
    })
  }
})

/** Thinks and calls a tool twice, one call after the other, then answers; small talk is answered at once. */
const chatting: ChatScript = ({ messages }) => {
  const asked = messages.findLastIndex(({ content }) => textOf(content).includes('use your tools'))
  const isLast = asked >= messages.findLastIndex(({ role }) => role === 'user')
  if (!isLast) return chatReply('heard you')
  const step = messages.slice(asked).filter(({ tool_calls }) => tool_calls !== undefined).length
  const thought = { type: 'reasoning', reasoning: `${step}: ${THOUGHT.thinking}` } as const
  const call = { type: 'tool_call', name: 'probe_pure', arguments: { step } } as const
  return step < 2 ? { parts: [thought, call] } : { parts: [thought, { type: 'text', text: 'done' }] }
}

/** Servers that refuse a step without what they put on it, thoughts or a signature. */
const STRICT = ['deepseek', 'kimi', 'gemini', 'openrouter'] as const

describe.concurrent(
  'a kill between a call and its result, with servers that refuse a step without its own fields',
  CASE,
  () => {
    for (const [dialect, point] of rounds(
      STRICT.flatMap((one) => POINTS.map((at) => [one, at] as const)),
      6,
    )) {
      it(`C19, C26: ${point}: ${dialect} is sent the fields of every step as they came`, async (test) => {
        const chat = await startOpenAiServer({ dialect, script: chatting })
        test.onTestFinished(() => chat.close())
        const scene = await startScene(test, { chat, model: 'chat/some-model' })
        await scene.daemon.start(point)
        scene.telegram.world.say({ from: ADA, text: 'use your tools' })
        expect(await scene.daemon.exited()).toEqual(KILLED)
        await scene.daemon.start()
        await scene.sent('done')
        scene.telegram.world.say({ from: ADA, text: 'and now?' })
        await scene.sent('heard')
        await scene.finish()
        expect(chat.ledger.all(({ kind }) => kind === 'refused')).toEqual([])
        expect(scene.texts(ADA).join()).not.toContain('A mark is wanted')
      })
    }
  },
)
