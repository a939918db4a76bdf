import type { SessionEvent } from '../../core/event.ts'
import type { ArchivedSession } from '../../core/operate-archives.ts'
import { stripSilence } from '../../core/silence.ts'
import { type TranscriptPart, type TranscriptRow, transcriptRows } from './transcript-rows.ts'

/** Returns the head of a session's page, for people to read. */
export function markdownHead({ id, displayKey, agentId, description, createdAt }: ArchivedSession): string {
  const title = oneLine(description) || displayKey
  return `# ${title}\n\n- session: \`${id}\`\n- key: \`${displayKey}\`\n- agent: \`${agentId}\`\n- begun: ${timeOf(new Date(createdAt).toISOString())}\n`
}

/** Returns events as a page shows them; words are quoted, so that none of them looks like a heading of the page. */
export function markdownRows(events: readonly SessionEvent[]): string {
  return transcriptRows(events).map(rowText).join('')
}

function rowText(row: TranscriptRow): string {
  const words = row.content.map(partText).filter((text) => text !== '')
  const body = row.deleted ? ['*deleted by its writer*'] : words
  if (body.length === 0) return ''
  return `\n## ${speakerOf(row)}, ${timeOf(row.createdAt)}\n\n${body.join('\n\n')}\n`
}

function speakerOf({ role, name, edited }: TranscriptRow): string {
  const who = { user: oneLine(name ?? 'user'), assistant: 'Agent', tool: 'Tool', system: 'Summary' }[role]
  return edited ? `${who} (edited)` : who
}

function partText(part: TranscriptPart): string {
  switch (part.type) {
    case 'text':
      return quoted(stripSilence(part.text).text)
    case 'media':
      return `*file ${oneLine(part.name ?? part.mime)}, \`${part.source}\`*`
    case 'tool_call':
      return `*asks for \`${oneLine(part.name)}\`*\n\n${quoted(JSON.stringify(part.arguments))}`
    case 'tool_result':
      return `*\`${oneLine(part.name)}\`${part.isError ? ' failed' : ''}*\n\n${part.content.map(partText).join('\n\n')}`
  }
}

function quoted(text: string): string {
  const trimmed = text.trim()
  return trimmed === ''
    ? ''
    : trimmed
        .split(/\r\n|[\r\n\u2028\u2029]/)
        .map((line) => `> ${line}`)
        .join('\n')
}

/** A name is neither a heading nor a link, nor loads anything. */
function oneLine(text: string): string {
  return text.replace(/[\s`#*<>[\]]+/g, ' ').trim()
}

function timeOf(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`
}
