import * as z from 'zod'
import type { SessionTools } from '../../core/session-tools.ts'
import type { Tool } from '../../core/turn.ts'
import { answerOutput } from './answer-output.ts'
import { flag, number, readArgs, text } from './read-args.ts'
import { callerOf } from './session-caller.ts'

const ARGS = z.object({ sessionKey: text, message: text, timeoutSeconds: number.exactOptional(), announce: flag })

/**
 * Hands another session a message. Keyed by its call: after a crash it finds the run it had begun and sends nothing
 * again.
 */
export function sessionsSend(sessions: Pick<SessionTools, 'send' | 'sendReach'>): Tool {
  return {
    class: 'keyed',
    reach: (args, context) => sessions.sendReach(readArgs(ARGS, args).sessionKey, callerOf(context)),
    doing: 'writing to another conversation',
    spec: {
      name: 'sessions_send',
      description:
        'Sends a message to another conversation, where an agent answers it. The answer comes back to you; the chat sees it only with announce.',
      parameters: {
        type: 'object',
        properties: {
          sessionKey: { type: 'string', description: 'A key or session id from sessions_list.' },
          message: { type: 'string', description: 'What the agent there is told.' },
          timeoutSeconds: { type: 'number', description: 'How long to wait for the answer; 0: not. Default: 30.' },
          announce: { type: 'boolean', description: 'Post the answer in that chat too. Default: false.' },
        },
        required: ['sessionKey', 'message'],
        additionalProperties: false,
      },
    },
    async run(args, context) {
      const request = { ...readArgs(ARGS, args), requestId: context.callId }
      const answer = await sessions.send(request, callerOf(context), context.signal)
      return {
        ...answerOutput(answer),
        // Without a session: not there, or beyond reach.
        ...(answer.sessionId === undefined ? { denied: true } : {}),
      }
    },
  }
}
