import type { MessagesRequest } from '../anthropic/request.ts'
import { type AnswerReply, lastUserText, type Reply, type Script, textReply } from '../anthropic/script.ts'
import { lookAt } from '../paint.ts'
import { SHOPPING } from './tour-tools.ts'

/** A delay slow enough to be watched, fast enough for a tour. */
const TYPING_MS = 25
/** A story takes some seconds, so that a crash can come in the middle. */
const STORY_MS = 120

const STORY = [
  'Once a small bot lived in a family chat.',
  'It wrote down everything it was asked before it answered, and one evening, in mid-sentence, the power went out.',
  'When the light came back it found the line it had stopped at, and went on. The end.',
].join('\n\n')

/** A mention in the platforms' forms: by name, or by number in angle brackets. */
const MENTION = /<?@\w+>?\s*/g
const NAME_TAG = /^\[(\w+)\] /
const BEGINNING_OF_TAGS = /^(\[[^\]]*\] )+/

/** The system prompt of a model that is to keep a memory begins so. */
const CHECKPOINT = 'You keep the memory'

/** The prompt text of a scheduled digest, and one message in it; "you" is the model itself. */
const IS_DIGEST = /^Messages of \S+ since the last run/m
const DIGEST_LINE = /^> \[.*?\] (?!you\b)(\w+)(?: \(.*?\))?: (.*[^?])$/gm

/**
 * The model of the demo is this script: it repeats what it reads, lists the messages of its conversation, and keeps
 * silent where nobody asked it. That is enough to see what reaches a model and what does not.
 */
export const persona: Script = (request) => {
  const text = lastUserText(request)
  if (IS_DIGEST.test(text)) return digest(text)
  if (JSON.stringify(request.system ?? '').includes(CHECKPOINT)) return textReply('Nothing else is worth a note.')
  const line = text.trimEnd().split('\n').at(-1) ?? ''
  const result = toolResult(request)
  if (result?.startsWith('[')) return spoken(memories(result))
  if (result) return spoken(/\d\d:\d\d/.test(result) ? `My clock says ${result}.` : result)
  if (line.includes('[not directed at you]')) return textReply('<NO_REPLY>')
  const picture = pictureIn(request)
  if (picture) return spoken(describe(picture))
  return answer(line, request)
}

function answer(line: string, request: MessagesRequest): Reply {
  const said = line.replace(BEGINNING_OF_TAGS, '')
  if (/story/i.test(said)) return textReply(STORY, { delayMs: STORY_MS })
  if (/what time/i.test(said)) return use(request, 'current_time', { timezone: 'Europe/Berlin' })
  if (/show the list/i.test(said)) return use(request, `${SHOPPING}__show_list`, {})
  const [, fact] = /remember that (.+)/i.exec(said) ?? []
  if (fact !== undefined) {
    const [, who] = NAME_TAG.exec(line) ?? []
    return use(request, 'memory_save', { text: who === undefined ? fact : `${who}: ${fact}` })
  }
  if (/remember of me/i.test(said)) return use(request, 'memory_search', {})
  const [, item] = /put (.+) on the list/i.exec(said) ?? []
  if (item !== undefined) return use(request, `${SHOPPING}__add_to_list`, { item })
  if (/what do you know|what have you read|remember/i.test(said))
    return spoken(`Here I have read: ${recollection(request)}`)
  return spoken(`I heard you: “${said.replace(MENTION, '').trim()}”`)
}

/** Returns people's messages without questions; silence if there are none. */
function digest(text: string): Reply {
  const said = [...text.matchAll(DIGEST_LINE)].map(([, who, what = '']) => `- ${who}: ${what.replace(MENTION, '')}`)
  return said.length === 0 ? textReply('<NO_REPLY>') : spoken(`What the workshop talked about:\n\n${said.join('\n')}`)
}

/** Returns the answer of a tool, if that is the last message. */
function toolResult({ messages }: MessagesRequest): string | undefined {
  const content = messages.at(-1)?.content
  const block = Array.isArray(content) ? content.find(({ type }) => type === 'tool_result') : undefined
  return block && textOf(block.content)
}

/** Returns the picture that came with the newest message. */
function pictureIn({ messages }: MessagesRequest): Buffer | undefined {
  const content = messages.at(-1)?.content
  const block = Array.isArray(content) ? content.find(({ type }) => type === 'image') : undefined
  const { source } = (block ?? {}) as { readonly source?: { readonly data?: string } }
  const data = source?.data
  return data === undefined ? undefined : Buffer.from(data, 'base64')
}

function describe(picture: Buffer): string {
  const { side, colour } = lookAt(picture)
  return `I see something ${colour} and round, ${side} pixels wide.`
}

/** Says what a search in memory has found, oldest first. */
function memories(found: string): string {
  const entries = JSON.parse(found) as readonly { readonly text: string }[]
  return `I remember ${entries
    .map(({ text }) => `“${text}”`)
    .toReversed()
    .join(' and ')}.`
}

/** Uses a tool, as a model does that has it. */
function use({ tools }: MessagesRequest, name: string, input: Readonly<Record<string, unknown>>): Reply {
  if (!tools?.some((tool) => tool.name === name)) return spoken(`I have no ${name} here.`)
  return { blocks: [{ type: 'tool_use', name, input }] }
}

/** Returns every line of a person in this conversation, as the model sees it: proof of what is kept apart. */
function recollection({ messages }: MessagesRequest): string {
  const lines = messages.filter(({ role }) => role === 'user').flatMap(({ content }) => textOf(content).split('\n'))
  return lines
    .filter((line) => !line.startsWith('[time: '))
    .slice(0, -1)
    .map((line) => line.replace('[not directed at you] ', '').replace(MENTION, '').replace(NAME_TAG, '$1: '))
    .map((line) => line.replace(/^(\w+): (.*)$/, '$1: “$2”'))
    .join('; ')
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((block: { text?: string; content?: unknown }) => block.text ?? textOf(block.content)).join('\n')
}

function spoken(text: string): AnswerReply {
  return textReply(text, { delayMs: TYPING_MS })
}
