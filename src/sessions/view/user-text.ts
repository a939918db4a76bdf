import type { ChatType } from '../../core/address.ts'
import type { ContentPart } from '../../core/content.ts'
import { fileName, fileWords } from '../../core/content-words.ts'
import type { Writer } from '../../core/dispatch.ts'
import type { UserMessageData } from '../../core/event.ts'
import {
  escapeLabels,
  labelledWords,
  plainExcerpt,
  plainName,
  quotable,
  quoteLines,
  senderName,
  speaker,
} from '../../core/label.ts'
import { type AttachmentRef, LONGEST_ENCLOSED } from '../../core/message.ts'
import type { ReceivedMessage } from './received.ts'

/** An alert that somebody asks about by a reply is as long as that. */
const QUOTE_LENGTH = 1_000
/** Enough to know which answer is meant: mostly the log has it. */
const OWN_QUOTE_LENGTH = 400

/**
 * Returns a user message as the model reads it: labels, each at the beginning of a line, and the escaped text, whose
 * lines cannot begin like one. In groups it has the sender's name, and a label when it was not addressed to the agent
 * (S26, S27). The stored event keeps the raw text (S23).
 */
export function taggedText(message: ReceivedMessage, chatType: ChatType): string {
  if (message.from) return labelled(message.text, message.from)
  const labels = [...speakerLabels(message, chatType), ...quoteLabel(message), ...mentionLabel(message)]
  const things = (message.enclosed ?? NONE).map((line) => `[attached ${plainExcerpt(line, LONGEST_ENCLOSED)}]`)
  const files = (message.attachments ?? NONE).map(fileLine)
  const said = [message.deleted ? '' : labelledWords(message), ...things, ...files]
    .filter((part) => part !== '')
    .join('\n')
  return (said === '' ? labels : [...labels, said]).join(' ')
}

/** Spoken words stand where written ones would, with a label that says how they came. */
function fileLine(file: AttachmentRef): string {
  const { spoken, about = '' } = file
  if (spoken === undefined) return `[attached: ${fileWords(file)}]`
  const seconds = Number(/(\d+) s$/.exec(about)?.[1] ?? 0)
  const length = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return `[voice note${seconds === 0 ? '' : `, ${length}`}] ${escapeLabels(spoken)}`
}

/**
 * Returns what the model is shown of the files that came with messages: pictures, and texts, quoted line by line. They
 * follow the words, in the order of their labels.
 */
export function filesOf(received: readonly ReceivedMessage[]): readonly ContentPart[] {
  const files = received.flatMap(({ attachments = NONE }) => attachments)
  // A reply to a message that is shown as well names its file again.
  return [...new Map(files.map((file) => [file.ref, file])).values()].flatMap(shownOf)
}

function shownOf(file: AttachmentRef): readonly ContentPart[] {
  const { media, text, cut, note } = file
  if (text === undefined) return media?.type === 'image' ? [media] : NONE
  const end = cut === undefined ? '' : `\n[cut: ${cut} of ${fileName(file)}]`
  const name = [fileName(file), ...(note === undefined ? [] : [note])].join(', ')
  return [{ type: 'text', text: `[attached text of ${name}]\n${quoteLines(text)}${end}` }]
}

const NONE: readonly never[] = []

function speakerLabels(message: ReceivedMessage, chatType: ChatType): string[] {
  const { sender, addressed, edit, deleted, apart, place, inChannel } = message
  const change = deleted ? '[deleted this message]' : edit ? '[edited an earlier message]' : undefined
  const before = inChannel && `[in the channel before${inChannel === 'answered' ? ', answered there' : ''}]`
  const aside = change ?? before ?? (chatType === 'direct' || addressed ? undefined : '[not directed at you]')
  // Words without a label would be read as those of the previous speaker.
  if (inChannel === 'own') return ['[you posted in the channel before]']
  if (message.own) return ['[you posted here before]']
  const name = chatType === 'direct' ? [] : [`[${speaker(sender)}${apart === undefined ? '' : ` (${apart})`}]`]
  const where = place === undefined ? [] : [`[place: ${plainExcerpt(place, LONGEST_PLACE)}]`]
  return [...name, ...where, ...(aside === undefined ? [] : [aside])]
}

/** Two titles, and what stands between them. */
const LONGEST_PLACE = 170

/** Quotation marks end a name, so that none looks like two. */
function mentionLabel({ mentions = NONE, deleted }: ReceivedMessage): string[] {
  const named = mentions.flatMap(({ name = '', username = '' }) => {
    const [called, account] = [quotable(name), quotable(username)]
    if (called === '') return account === '' ? [] : [`@${account}`]
    return [account === '' || account === called ? `"${called}"` : `"${called}" (${account})`]
  })
  return deleted || named.length === 0 ? [] : [`[mentions: ${named.join(', ')}]`]
}

/** Returns a text that no person wrote with each line quoted, so that it never looks like a person's words. */
function labelled(text: string, from: Writer): string {
  const who =
    'hook' in from
      ? `hook ${plainName(from.hook)}`
      : `session ${plainExcerpt(from.displayKey, 200)}, agent ${from.agent}`
  const task = 'hook' in from && from.prompt !== undefined ? `${from.prompt}\n\n` : ''
  return `${task}[message from ${who}]\n${quoteLines(text)}`
}

function quoteLabel({ quoted }: UserMessageData): string[] {
  if (!quoted?.text) return []
  if (quoted.own)
    return quoted.saidIn === undefined
      ? []
      : [`[in reply, your own words: ${plainExcerpt(quoted.text, OWN_QUOTE_LENGTH)}]`]
  const who = quoted.sender === undefined || senderName(quoted.sender) === '' ? '' : speaker(quoted.sender)
  return [`[in reply to${who === '' ? '' : ` ${who}`}: ${plainExcerpt(quoted.text, QUOTE_LENGTH)}]`]
}
