import * as z from 'zod'
import type { RunsTasks } from '../../core/child-task.ts'
import type { Tool } from '../../core/turn.ts'
import { answerOutput } from './answer-output.ts'
import { number, readArgs, text } from './read-args.ts'

const ARGS = z.object({ task: text, timeoutSeconds: number.exactOptional() })

/** Gives a piece of work to a session of its own (R36). Keyed by its call: a repeated one finds the work it began. */
export function task(tasks: RunsTasks): Tool {
  return {
    class: 'keyed',
    reach: 'inside',
    doing: 'working on a task',
    spec: {
      name: 'task',
      description:
        'Gives a piece of work to a fresh session of yours, and returns its answer: for work with many steps whose details need not stand here. It sees nothing of this conversation but the task, and can ask nobody.',
      parameters: {
        type: 'object',
        properties: {
          task: {
            type: 'string',
            description: 'The whole task: the goal, all it has to know, the form of the answer.',
          },
          timeoutSeconds: { type: 'number', description: 'How long to wait for the answer. Default: 600.' },
        },
        required: ['task'],
        additionalProperties: false,
      },
    },
    async run(args, { turnId, sessionId, agentId, callId, signal }) {
      return answerOutput(await tasks.run(readArgs(ARGS, args), { id: turnId, sessionId, agentId }, callId, signal))
    },
  }
}
