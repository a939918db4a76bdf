import { isRecord, type Params, structureParam } from './params.ts'
import { SlackApiError } from './slack-error.ts'

const MOST_ELEMENTS = 25
const MOST_LABEL = 75
const MOST_VALUE = 2_000
const MOST_ACTION_ID = 255

/**
 * Returns the attachments of a message; nothing where the call names none, which leaves those of an updated message as
 * they are. Only rows of buttons are rehearsed.
 */
export function readAttachments(params: Params): { readonly attachments?: readonly object[] } {
  const given = structureParam(params, 'attachments', 'invalid_attachments')
  if (given === undefined) return {}
  if (!Array.isArray(given)) throw new SlackApiError('invalid_attachments')
  return { attachments: given.map(readAttachment) }
}

function readAttachment(attachment: unknown, index: number): object {
  if (!isRecord(attachment) || !Array.isArray(attachment.blocks)) throw new SlackApiError('invalid_attachments')
  for (const block of attachment.blocks) {
    if (!isRecord(block) || block.type !== 'actions' || !Array.isArray(block.elements)) throw bad()
    if (block.elements.length === 0 || block.elements.length > MOST_ELEMENTS) throw bad()
    if (new Set(block.elements.map(checkButton)).size < block.elements.length) throw bad()
  }
  return { ...attachment, id: index + 1 }
}

/** Returns the id of its action, which is unique in its row. */
function checkButton(button: unknown): string {
  if (!isRecord(button) || button.type !== 'button' || !isRecord(button.text)) throw bad()
  const { text, action_id: id, value } = button
  if (text.type !== 'plain_text' || typeof text.text !== 'string') throw bad()
  if (text.text === '' || text.text.length > MOST_LABEL) throw bad()
  if (typeof id !== 'string' || id === '' || id.length > MOST_ACTION_ID) throw bad()
  if (typeof value !== 'string' || value === '' || value.length > MOST_VALUE) throw bad()
  return id
}

function bad(): SlackApiError {
  return new SlackApiError('invalid_blocks')
}
