import { SESSION_KINDS } from '../../core/session.ts'
import { type ListQuery, readKinds, type SessionTools } from '../../core/session-tools.ts'
import type { Tool } from '../../core/turn.ts'
import { readNumber, readTexts, type ToolArgs } from './read-args.ts'
import { callerOf } from './session-caller.ts'

/** Makes the tool that lists the sessions which the person of the turn may see. */
export function sessionsList(sessions: Pick<SessionTools, 'list'>): Tool {
  return {
    class: 'pure',
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
      const query = queryOf(args as ToolArgs)
      const rows = await sessions.list(query, callerOf(context))
      const shows = rows.filter(({ messages }) => messages !== undefined).map(({ sessionId }) => sessionId)
      return { text: JSON.stringify({ sessions: rows, ...noteOn(query) }), shows }
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

function queryOf(args: ToolArgs): ListQuery {
  const kinds = readTexts(args, 'kinds')
  const limit = readNumber(args, 'limit')
  const activeMinutes = readNumber(args, 'activeMinutes')
  const messageLimit = readNumber(args, 'messageLimit')
  return {
    ...(kinds === undefined ? {} : { kinds }),
    ...(limit === undefined ? {} : { limit }),
    ...(activeMinutes === undefined ? {} : { activeMinutes }),
    ...(messageLimit === undefined ? {} : { messageLimit }),
  }
}
