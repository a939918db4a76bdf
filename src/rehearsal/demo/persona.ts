import type { MessagesRequest } from '../anthropic/request.ts'
import { type AnswerReply, lastUserText, type Reply, type Script, textReply } from '../anthropic/script.ts'

/** Slow enough to be watched, fast enough for a tour. */
const TYPING_MS = 25

const STORY = [
  'Once there was a small bot that lived in a family chat.',
  'It listened more than it spoke, and it wrote down everything it was asked before it answered.',
  'One evening, in the middle of a sentence, the power went out.',
  'Nobody in the chat noticed: when the light came back, the bot opened its book, found the line it had stopped at, and went on.',
  'It did not say anything twice, and it did not leave anything out.',
  'The family kept talking about dinner.',
  'The end.',
].join('\n\n')

const BEGINNING_OF_TAGS = /^(\[[^\]]*\] )+/

/**
 * The model of the demo: a few fixed manners instead of knowledge, enough to see what reaches a model and what does
 * not. It keeps silent where nobody asked it, and can tell what it has read in its conversation.
 */
export const persona: Script = (request) => {
  const line = lastUserText(request).trimEnd().split('\n').at(-1) ?? ''
  if (line.includes('[not directed at you]')) return textReply('<NO_REPLY>')
  return answer(line.replace(BEGINNING_OF_TAGS, ''), request)
}

function answer(said: string, request: MessagesRequest): Reply {
  if (/story/i.test(said)) return spoken(STORY)
  if (/what time/i.test(said)) return theTime(request)
  if (/what do you know|what have you read|remember/i.test(said))
    return spoken(`Here I have read:\n\n${recollection(request)}`)
  return spoken(`I heard you: “${said.replace(/@\w+\s*/g, '').trim()}”`)
}

/** Asks the clock first, as a model with tools does. */
function theTime(request: MessagesRequest): Reply {
  const results = request.messages.at(-1)?.content
  const block = Array.isArray(results) ? results.find(({ type }) => type === 'tool_result') : undefined
  if (block) return spoken(`My clock says ${textOf(block.content)}.`)
  const clock = request.tools?.find(({ name }) => name === 'current_time')
  return clock
    ? { blocks: [{ type: 'tool_use', name: clock.name, input: { timezone: 'Europe/Berlin' } }] }
    : spoken('I have no clock here.')
}

/** Every line of a person in this conversation, as the model sees it: proof of what is kept apart. */
function recollection({ messages }: MessagesRequest): string {
  const lines = messages.filter(({ role }) => role === 'user').flatMap(({ content }) => textOf(content).split('\n'))
  return lines
    .slice(0, -1)
    .map((line) => `- ${line.replaceAll('[not directed at you] ', '')}`)
    .join('\n')
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((block: { text?: string; content?: unknown }) => block.text ?? textOf(block.content)).join('\n')
}

function spoken(text: string): AnswerReply {
  return textReply(text, { delayMs: TYPING_MS })
}
