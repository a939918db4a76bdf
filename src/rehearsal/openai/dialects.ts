import {
  type Check,
  deepseekThoughts,
  geminiSchemas,
  geminiSignatures,
  groqFields,
  groqTools,
  kimiSchemas,
  kimiThoughts,
  litellmBlocks,
  llamaCppRoles,
  llamaCppSchemas,
  lmStudioRoles,
  mistralFields,
  mistralIds,
  mistralOrder,
  ollamaArguments,
  openrouterDetails,
  xaiContent,
} from './dialect-checks.ts'
import { refused } from './refusals.ts'
import type { DialectName, RefusalDetails, Refused } from './refused.ts'
import type { ChatRequest } from './request.ts'
import type { Quirks } from './script.ts'
import type { SentSteps } from './sent-steps.ts'
import type { ThoughtForm } from './thoughts.ts'

/** A dialect of the Chat Completions API: what its server refuses and how it answers. */
export interface Dialect {
  readonly name: DialectName
  /** Beyond what OpenAI refuses of messages and tools. */
  readonly checks: readonly Check[]
  /** The request fields that it refuses. */
  readonly refuses: readonly string[]
  readonly thoughts: ThoughtForm
  /** The tokens of thoughts stand beside those of the answer, so that the total is larger than the sum. */
  readonly countsThoughtsBeside: boolean
  /** The limit of the answer counts towards the window. */
  readonly reservesAnswer: boolean
  readonly callId: (turn: number, index: number, name: string) => string
  /** The quirks of every answer; those of a reply go before. */
  readonly quirks: Quirks
}

const pad = (number: number, length: number): string => String(number).padStart(length, '0')

const OPENAI: Dialect = {
  name: 'openai',
  checks: [],
  refuses: [],
  thoughts: 'reasoning_content',
  countsThoughtsBeside: false,
  reservesAnswer: false,
  callId: (turn, index) => `call_rehearsal${pad(turn, 6)}${pad(index, 6)}`,
  quirks: {},
}

const TABLE: Readonly<Record<DialectName, Partial<Dialect>>> = {
  openai: {},
  deepseek: {
    checks: [deepseekThoughts],
    reservesAnswer: true,
    callId: (turn, index) => `call_${pad(index, 2)}_${pad(turn, 22)}`,
    quirks: { usageAt: 'finish', nullFields: true },
  },
  kimi: {
    checks: [kimiSchemas, kimiThoughts],
    callId: (_turn, index, name) => `functions.${name}:${index}`,
    quirks: { usageAt: 'choice' },
  },
  gemini: {
    checks: [geminiSchemas, geminiSignatures],
    refuses: ['store', 'frequency_penalty', 'presence_penalty', 'reasoning'],
    thoughts: 'hidden',
    countsThoughtsBeside: true,
    callId: (turn, index) => `gm${pad(turn, 3)}${pad(index, 3)}`,
    quirks: { noIndex: true, wholeArguments: true, signatures: true, callsEndWithStop: true },
  },
  mistral: {
    checks: [mistralFields, mistralOrder, mistralIds],
    refuses: ['max_completion_tokens', 'store'],
    thoughts: 'parts',
    callId: (turn, index) => `mi${pad(turn, 4)}${pad(index, 3)}`,
    quirks: { noIndex: true, noType: true, wholeArguments: true, usageAt: 'finish' },
  },
  groq: {
    checks: [groqFields, groqTools],
    thoughts: 'reasoning',
    callId: (turn, index) => `gq${pad(turn, 4)}${pad(index, 3)}`,
    quirks: { wholeArguments: true, usageAt: 'groq' },
  },
  xai: {
    checks: [xaiContent],
    refuses: ['reasoning_effort', 'presence_penalty', 'frequency_penalty', 'stop'],
    countsThoughtsBeside: true,
    quirks: { wholeArguments: true, lateFinish: true },
  },
  azure: { thoughts: 'hidden', quirks: { filters: true } },
  ollama: {
    checks: [ollamaArguments],
    thoughts: 'reasoning',
    callId: (turn, index) => `call_${pad(turn, 5)}${pad(index, 3)}`,
    quirks: { wholeArguments: true, sameIndex: true },
  },
  'lm-studio': {
    checks: [lmStudioRoles, llamaCppSchemas],
    thoughts: 'marked',
    callId: (turn, index) => `37289${pad(turn, 2)}${pad(index, 2)}`,
  },
  vllm: {
    thoughts: 'unopened',
    reservesAnswer: true,
    callId: (turn, index) => `chatcmpl-tool-${pad(turn, 16)}${pad(index, 16)}`,
    quirks: { freshIds: true },
  },
  'llama-cpp': {
    checks: [llamaCppRoles, llamaCppSchemas],
    callId: (turn, index) => `llama${pad(turn, 13)}${pad(index, 14)}`,
  },
  openrouter: { checks: [openrouterDetails], thoughts: 'details', quirks: { processing: true } },
  litellm: {
    checks: [litellmBlocks],
    thoughts: 'blocks',
    callId: (turn, index) => `toolu_01${pad(turn, 8)}${pad(index, 8)}`,
    quirks: { firstIndex: 1 },
  },
}

/** Returns a dialect by its name. */
export function dialectOf(name: DialectName = 'openai'): Dialect {
  return { ...OPENAI, ...TABLE[name], name }
}

/** The part of a request that a model refuses: tools, pictures, the system message, or a field by its name. */
export type Lack = 'tools' | 'pictures' | 'system' | (string & {})

export interface Limits {
  readonly lacks?: readonly Lack[]
  /** The most tokens of a prompt, as they are estimated. Default: no limit. */
  readonly contextTokens?: number
  /** The most tokens of an answer that a request may ask for. Default: no limit. */
  readonly answerTokens?: number
}

/** Returns why a server of the dialect refuses a request that OpenAI's rules let pass; undefined if it does not. */
export function refusedBy(
  dialect: Dialect,
  request: ChatRequest,
  { limits, sent, tokens }: { readonly limits: Limits; readonly sent: SentSteps; readonly tokens: number },
): Refused | undefined {
  const lack = lacked(request, [...dialect.refuses, ...(limits.lacks ?? [])])
  if (lack !== undefined) return refused(lack.kind, dialect.name, { model: request.model, ...lack.details })
  for (const check of dialect.checks) {
    const found = check(request, sent)
    if (found !== undefined) return found
  }
  return outOfRoom(dialect, request, { limits, tokens })
}

type Lacked = { readonly kind: 'tools' | 'pictures' | 'system' | 'field'; readonly details: RefusalDetails }

function lacked(request: ChatRequest, lacks: readonly Lack[]): Lacked | undefined {
  const { messages, tools } = request
  if (lacks.includes('tools') && tools !== undefined) return { kind: 'tools', details: {} }
  if (lacks.includes('system') && messages.some(({ role }) => role === 'system' || role === 'developer')) {
    return { kind: 'system', details: {} }
  }
  const shown = messages.findIndex(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'image_url'),
  )
  if (lacks.includes('pictures') && shown >= 0) return { kind: 'pictures', details: { message: shown } }
  const field = lacks.find((name) => name !== 'tools' && request[name] !== undefined)
  return field === undefined ? undefined : { kind: 'field', details: { field, value: request[field] } }
}

function outOfRoom(
  { name, reservesAnswer }: Dialect,
  { model, max_tokens, max_completion_tokens }: ChatRequest,
  { limits, tokens }: { readonly limits: Limits; readonly tokens: number },
): Refused | undefined {
  const { answerTokens: most = Number.POSITIVE_INFINITY, contextTokens: window = Number.POSITIVE_INFINITY } = limits
  const answer = max_tokens ?? max_completion_tokens ?? 0
  const field = max_tokens === undefined ? 'max_completion_tokens' : 'max_tokens'
  if (answer > most) return refused('answerTooLong', name, { model, tokens, answer, most, field })
  if (tokens + (reservesAnswer ? answer : 0) <= window) return undefined
  return refused('tooLong', name, { model, tokens, answer, window })
}
