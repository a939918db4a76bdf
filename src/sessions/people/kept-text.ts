import { cutText } from '../../core/cut-text.ts'
import type { Decision, Dispatch, PostedText, ScheduledRun } from '../../core/dispatch.ts'
import { type Forwarded, hasForeignText, type InboundEvent } from '../../core/message.ts'

/** The longest text that is kept of a stranger, in UTF-16 units: the most that Telegram accepts in one message. */
const LONGEST = 4_096
/** The longest quotation, and the most files. */
const LONGEST_QUOTE = 512
const MOST_FILES = 10
const CUT = ' […]'

/** Returns the dispatch without a word of what was said. */
export function withoutText({ event, schedule, raw: _raw, ...rest }: Dispatch): Dispatch {
  return { ...rest, event: silent(event), ...(schedule ? { schedule: withoutData(schedule) } : {}) }
}

/** Returns the dispatch without a word of what was said and without a name: ids say who and where. */
function withoutWords(dispatch: Dispatch): Dispatch {
  const { event, posted, ...rest } = withoutText(dispatch)
  const { id, kind, team } = event.sender
  const { titles: _titles, ...left } = event
  const sender = { id, kind, ...(team === undefined ? {} : { team }) }
  const named = { ...left, sender }
  if ('text' in named) {
    const { forwarded: _forwarded, via: _via, ...silent } = named
    return { ...rest, event: silent, ...(posted ? { posted: withoutContext(posted) } : {}) }
  }
  if (named.kind !== 'membership') return { ...rest, event: named }
  const { chatTitle: _title, ...member } = named
  return { ...rest, event: member }
}

/** A dispatch with what was decided about it. */
interface Decided {
  readonly dispatch: Dispatch
  readonly decision: Decision
}

/** Returns both without a word of what was said and without a reason; what was begun like a command may be none. */
export function withoutAnything({ dispatch, decision }: Decided): Decided {
  const { event, ...rest } = withoutWords(dispatch)
  const isOurs = decision.kind === 'control' || event.kind !== 'command'
  return { dispatch: { ...rest, event: isOurs ? event : { ...event, name: '' } }, decision: withoutReasons(decision) }
}

/** Returns the decision with the stages and settings of its trace; the facts that they looked at go. */
function withoutReasons(decision: Decision): Decision {
  return { ...decision, trace: decision.trace.map((step) => ({ ...step, because: '' })) }
}

/** Returns the dispatch without the words of others in it. */
export function withoutQuoted(dispatch: Dispatch): Dispatch {
  const { event } = dispatch
  if (!('text' in event)) return dispatch
  if (hasForeignText(event)) return withoutWords(dispatch)
  const { quoted, forwarded: _forwarded, attachments, ...rest } = event
  const { text: _text, ...name } = quoted ?? { messageId: '', own: false }
  const files = attachments.filter((file) => !file.quoted && !file.shared)
  return { ...dispatch, event: { ...rest, attachments: files, ...(quoted === undefined ? {} : { quoted: name }) } }
}

function withoutContext({ context: _context, ...posted }: PostedText): PostedText {
  return posted
}

/** Returns the dispatch with no more text than is kept of a stranger; a text that was cut off is marked. */
export function withShortText(dispatch: Dispatch): Dispatch {
  const { event } = dispatch
  if (event.kind !== 'message' && event.kind !== 'edit' && event.kind !== 'command') return dispatch
  const { quoted, forwarded, enclosed, ...rest } = event
  const said = {
    ...(quoted === undefined ? {} : { quoted: { ...quoted, ...shortText(quoted.text, LONGEST_QUOTE) } }),
    ...(forwarded === undefined ? {} : { forwarded: { ...forwarded, ...shortText(forwarded.text, LONGEST) } }),
    text: cut(rest.text, LONGEST),
    attachments: rest.attachments.slice(0, MOST_FILES),
    ...(enclosed === undefined ? {} : { enclosed: enclosed.slice(0, 1).map((line) => cut(line, LONGEST_QUOTE)) }),
  }
  const short = rest.kind === 'command' ? { ...rest, ...said, args: cut(rest.args, LONGEST) } : { ...rest, ...said }
  return { ...dispatch, event: short }
}

/** Returns how many bytes of text the dispatch holds, whoever wrote it. */
export function textBytes({ event }: Dispatch): number {
  if (!('text' in event)) return 0
  const texts = [event.text, event.quoted?.text ?? '', event.forwarded?.text ?? '', ...(event.enclosed ?? [])]
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0)
}

function shortText(text: string | undefined, longest: number): { readonly text?: string } {
  return text === undefined ? {} : { text: cut(text, longest) }
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  return `${cutText(text, longest)}${CUT}`
}

function withoutData({ data: _digest, ...run }: ScheduledRun): ScheduledRun {
  return run
}

function silent(event: InboundEvent): InboundEvent {
  switch (event.kind) {
    case 'message':
    case 'edit':
    case 'command': {
      const { quoted: _quoted, enclosed: _enclosed, mentions: _mentions, forwarded, ...rest } = event
      const blank = {
        text: '',
        attachments: [],
        ...(forwarded === undefined ? {} : { forwarded: wordless(forwarded) }),
      }
      return rest.kind === 'command' ? { ...rest, ...blank, args: '' } : { ...rest, ...blank }
    }
    default:
      return event
  }
}

function wordless({ text: _text, ...mark }: Forwarded): Forwarded {
  return mark
}
