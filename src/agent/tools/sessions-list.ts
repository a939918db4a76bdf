import * as z from 'zod'
import { textContent } from '../../core/content.ts'
import { SESSION_KINDS } from '../../core/session.ts'
import { type ListQuery, readKinds, type SessionRow, type SessionTools } from '../../core/session-tools.ts'
import type { Tool } from '../../core/turn.ts'
import { number, readArgs, texts } from './read-args.ts'
import { callerOf } from './session-caller.ts'

const ARGS = z.object({
  kinds: texts.exactOptional(),
  limit: number.exactOptional(),
  activeMinutes: number.exactOptional(),
  messageLimit: number.exactOptional(),
})

/** Makes the tool that lists the sessions which the person of the turn may see. */
export function sessionsList(sessions: Pick<SessionTools, 'list'>): Tool {
  return {
    class: 'pure',
    reach: 'judged',
    doing: 'looking through conversations',
    spec: {
      name: 'sessions_list',
      description: 'Lists the conversations you can reach, newest activity first, with their keys.',
      parameters: {
        type: 'object',
        properties: {
          kinds: { type: 'array', items: { type: 'string', enum: SESSION_KINDS }, description: 'Only these kinds.' },
          limit: { type: 'number', description: 'Rows, 200 at most. Default: 50.' },
          activeMinutes: { type: 'number', description: 'Only those active within so many minutes.' },
          messageLimit: { type: 'number', description: 'Last messages of each, 20 at most. Default: 0.' },
        },
        additionalProperties: false,
      },
    },
    async run(args, context) {
      const query = readArgs(ARGS, args)
      const rows = await sessions.list(query, callerOf(context))
      // A name is made of words that were said there.
      const isShown = ({ messages, displayName }: SessionRow) => messages !== undefined || displayName !== undefined
      const shows = rows.filter(isShown).map(({ sessionId }) => sessionId)
      return { content: textContent(JSON.stringify({ sessions: rows, ...noteOn(query) })), shows }
    },
  }
}

/** A list under another filter than the model asked for says so: it would take it for the answer to its question. */
function noteOn({ kinds: names = [] }: ListQuery): { readonly note?: string } {
  const { kinds, unknown } = readKinds(names)
  if (unknown.length === 0) return {}
  const listed = kinds.length === 0 ? 'so this is every kind' : `so this is only ${kinds.join(', ')}`
  return { note: `No kind is called ${unknown.join(', ')}, ${listed}. The kinds are ${SESSION_KINDS.join(', ')}.` }
}
