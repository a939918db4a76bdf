import * as z from 'zod'
import type { Skill } from '../../core/agent-profile.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Tool } from '../../core/turn.ts'
import { readArgs, text } from './read-args.ts'

const ARGS = z.object({ name: text })

/** Tools made once for a list of skills. */
const made = new WeakMap<readonly Skill[], readonly Tool[]>()

/** Returns the tool that loads a skill of the agent (R35); none for an agent without skills. */
export function skillTools(skills: readonly Skill[] = []): readonly Tool[] {
  if (skills.length === 0) return []
  const known = made.get(skills) ?? [skillTool(skills)]
  made.set(skills, known)
  return known
}

function skillTool(skills: readonly Skill[]): Tool {
  const names = skills.map(({ name }) => name)
  return {
    class: 'pure',
    reach: 'inside',
    doing: 'reading up on how to do that',
    spec: {
      name: 'skill',
      description: 'Loads the instructions of one of your skills.',
      parameters: {
        type: 'object',
        properties: { name: { type: 'string', enum: names } },
        required: ['name'],
        additionalProperties: false,
      },
    },
    async run(args) {
      const { name } = readArgs(ARGS, args)
      const skill = skills.find((one) => one.name === name)
      if (skill === undefined)
        throw new ParleyError('not_found', `There is no skill "${name}"; yours are ${names.join(', ')}.`)
      return skill.text
    },
  }
}
