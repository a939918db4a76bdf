import type { ChatType } from '../../core/address.ts'
import type { MediaPart } from '../../core/content.ts'
import type { Writer } from '../../core/dispatch.ts'
import type { UserMessageData } from '../../core/event.ts'
import { calledBy, labelledWords, plainExcerpt, plainName, quoteLines, senderName } from '../../core/label.ts'
import type { AttachmentRef } from '../../core/message.ts'
import type { ReceivedMessage } from './received.ts'

const QUOTE_LENGTH = 200

/**
 * Returns a user message as the model reads it: labels, each at the beginning of a line, and the escaped text, whose
 * lines cannot begin like one. In groups it has the sender's name, and a label when it was not addressed to the agent
 * (S26, S27). The stored event keeps the raw text (S23).
 */
export function taggedText(message: ReceivedMessage, chatType: ChatType): string {
  if (message.from) return labelled(message.text, message.from)
  const labels = [...speakerLabels(message, chatType), ...quoteLabel(message)]
  const files = (message.attachments ?? []).map((file) => `[attached: ${nameOf(file)}]`)
  const said = [message.deleted ? '' : labelledWords(message), ...files].filter((part) => part !== '').join('\n')
  return (said === '' ? labels : [...labels, said]).join(' ')
}

/** A type is what its uploader says it is: whatever else it says is not shown. */
const TYPE = /^(application|audio|font|image|model|text|video)\/[\w.+-]{1,40}$/

function nameOf({ fileName, mime = '' }: AttachmentRef): string {
  const name = fileName === undefined ? '' : plainName(fileName)
  return name || (TYPE.test(mime) ? mime : 'file')
}

/** Returns the files that came with messages and were fetched: they follow the words, in the order of their labels. */
export function filesOf(received: readonly ReceivedMessage[]): readonly MediaPart[] {
  return received.flatMap(({ attachments = NO_FILES }) => attachments.flatMap(({ media }) => media ?? NO_FILES))
}

const NO_FILES: readonly never[] = []

function speakerLabels({ sender, addressed, edit, deleted }: ReceivedMessage, chatType: ChatType): string[] {
  const change = deleted ? '[deleted this message]' : edit ? '[edited an earlier message]' : undefined
  const aside = change ?? (chatType === 'direct' || addressed ? undefined : '[not directed at you]')
  // Words without a label would be read as those of the previous speaker.
  const name = chatType === 'direct' ? [] : [`[${calledBy(sender)}]`]
  return [...name, ...(aside === undefined ? [] : [aside])]
}

/** Returns a text that no person wrote with each line quoted, so that it never looks like a person's words. */
function labelled(text: string, from: Writer): string {
  const who =
    'hook' in from
      ? `hook ${plainName(from.hook)}`
      : `session ${plainExcerpt(from.displayKey, 200)}, agent ${from.agent}`
  return `[message from ${who}]\n${quoteLines(text)}`
}

function quoteLabel({ quoted }: UserMessageData): string[] {
  if (!quoted?.text || quoted.own) return []
  const who = quoted.sender ? senderName(quoted.sender) : ''
  return [`[in reply to${who === '' ? '' : ` ${who}`}: ${plainExcerpt(quoted.text, QUOTE_LENGTH)}]`]
}
