import { textOf } from '../../core/content.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import type { SessionEvent, ToolResultData } from '../../core/event.ts'
import { isInboxId, type SessionId } from '../../core/ids.ts'
import { IN_MIND } from '../../core/memory.ts'
import { isTitleOf, repeats, showsFew, type Tellings } from '../../core/repeats.ts'
import type { SentRow } from '../../store/forget-port.ts'
import { madeWords } from './matches.ts'
import { shownMessages } from './shown-messages.ts'

/** Finds the texts of the agent, of tools and of programs that repeat what goes, or show it as it was said. */
export interface ShownAgain {
  readonly tellings: Tellings
  /** Returns whether a text lists a memory or a reminder that goes. */
  lists(this: void, text: string): boolean
  /** Returns whether something that goes was said in a session, after which that may be called. */
  isSaidIn(this: void, session: SessionId): boolean
}

/** The names under which a digest and a result show what the agent has said. */
export const OURS = ['you', 'assistant'] as const

/** Returns whether an event repeats words. A message in a person's own words is theirs, whatever it repeats. */
export function isRepetition(again: ShownAgain, event: SessionEvent): boolean {
  const { tellings } = again
  if (event.type === 'user_message') {
    const { from, data = '', text } = event.data
    if (from === undefined && data === '') return false
    return repeats(tellings, text, event.at) || isDigestOf(again, data, event.at)
  }
  if (event.type === 'tool_result') return isResultOf(again, event.data, event.at)
  return madeWords(event).some((words) => repeats(tellings, words, event.at))
}

/** Returns whether the text that a schedule or a session gave repeats words. */
export function isGivenAgain(again: ShownAgain, { event, schedule, receivedAt: at }: Dispatch): boolean {
  if ('text' in event && repeats(again.tellings, event.text, at)) return true
  return isDigestOf(again, schedule?.data ?? '', at)
}

/** Returns whether a text of ours repeats words. An answer to a command may call a conversation by its first ones. */
export function isSaidAgain(again: ShownAgain, { source, sessionId, text, at }: SentRow): boolean {
  const { tellings, isSaidIn } = again
  if (repeats(tellings, text, at)) return true
  if (!isInboxId(source)) return false
  const isHere = sessionId !== undefined && isSaidIn(sessionId)
  return text.split('\n').some((line) => {
    const [, listed, id] = LISTED.exec(line) ?? []
    if (listed !== undefined) return isSaidIn(id as SessionId) && isTitleOf(tellings, listed, at)
    const [, called = ''] = CALLED.exec(line) ?? []
    const whose = line.startsWith(IN_MIND) ? 'anyone' : 'named'
    return isHere && (isTitleOf(tellings, called, at) || showsFew(tellings, line, at, whose))
  })
}

/** A conversation in a list, and one that an answer is about. */
const LISTED = /^\d+\. (.*) \([^()]*\) `?(\S+?)`?$/
const CALLED = /^[^:]*: (.*)$/

/** A digest has a line with a name for each message. */
function isDigestOf({ tellings }: ShownAgain, data: string, at: number): boolean {
  return repeats(tellings, data, at) || data.split(/^> (?=\[\d)/m).some((said) => showsFew(tellings, said, at))
}

/** A result that lists messages, conversations, memories or reminders is JSON, and may have another one in a text. */
function isResultOf(again: ShownAgain, { content, shows = [] }: ToolResultData, at: number): boolean {
  const text = textOf(content)
  const { tellings, lists } = again
  const plain = text.replace(BREAKS, ' ')
  if (repeats(tellings, text, at) || (plain !== text && repeats(tellings, plain, at))) return true
  if (lists(unquoted(plain)) || hasTitle(again, unquoted(plain), at)) return true
  // Another conversation's answer is one text; that of the web is nobody's here.
  const said = unquoted(plain).split('"role":')
  if (said.slice(shows.length > 0 ? 0 : 1).some((one) => showsFew(tellings, one, at))) return true
  return text.includes('\\') && hasMessage(again, text, at)
}

/** A text with a backslash, a quote or a rare break of its own reads otherwise within JSON. */
function hasMessage({ tellings }: ShownAgain, json: string, at: number): boolean {
  for (const said of shownMessages(json)) if (repeats(tellings, said, at) || showsFew(tellings, said, at)) return true
  return false
}

function unquoted(json: string): string {
  return json.replace(QUOTES, '"')
}

function hasTitle({ tellings, isSaidIn }: ShownAgain, plain: string, at: number): boolean {
  const titles = [...plain.matchAll(TITLED)]
  return titles.some(([, id, title = '']) => isSaidIn(id as SessionId) && isTitleOf(tellings, title, at))
}

/** A break and a quote as JSON has them in a text, and in a text of a text: each time with twice as many marks. */
const BREAKS = /\\{1,15}[nrt]/g
const QUOTES = /\\{1,15}"/g
/** The bounds keep a text that only looks like a list from being looked through again and again. */
const TITLED = /"sessionId":"([^"]*)"(?:(?!"sessionId").){0,1000}?"displayName":"(.{0,400}?)","\w+":/g
