import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { Skill } from '../core/agent-profile.ts'
import { type ConfigPath, formatPath, type Mistake } from './mistake.ts'
import { readBounded, unread } from './read-bounded.ts'
import { readYaml } from './read-yaml.ts'

/** The skills of a folder; what is wrong with one of them makes the configuration unusable. */
export interface ReadSkills {
  readonly skills: readonly Skill[]
  readonly mistakes: readonly Mistake[]
}

/** Many times what a model can follow. */
const MOST_SKILLS = 100
const LONGEST = 100_000

/** The part of the common format that is used: https://agentskills.io/specification. */
const FRONT = z.object({
  name: z
    .string('must be a text')
    .max(64)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters, digits and single hyphens'),
  description: z.string('must say in a line or two what it is for and when to use it').trim().min(1).max(1_024),
})

/**
 * Reads the skills of a folder (R35): each is a folder of its own with a file `SKILL.md`, which begins with its name
 * and description between two lines of three hyphens. Their order is that of their names, so that a prompt stays the
 * same.
 */
export function readSkills(folder: string, path: ConfigPath): ReadSkills {
  let names: readonly string[]
  try {
    names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'SKILL.md')))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'an error'
    const words = code === 'ENOTDIR' ? 'is a file; name the folder that has <name>/SKILL.md' : undefined
    return {
      skills: [],
      mistakes: [mistake(path, `${folder} ${words ?? `cannot be read (${code}); make the folder`}`)],
    }
  }
  if (names.length === 0) return { skills: [], mistakes: [mistake(path, `${folder} has no <name>/SKILL.md`)] }
  if (names.length > MOST_SKILLS)
    return { skills: [], mistakes: [mistake(path, `${folder} has more than ${MOST_SKILLS} skills`)] }
  const read = names.toSorted().map((name) => readSkill(folder, name, path))
  return {
    skills: read.flatMap((one) => ('text' in one ? [one] : [])),
    mistakes: read.flatMap((one) => ('text' in one ? [] : [one])),
  }
}

function readSkill(folder: string, name: string, path: ConfigPath): Skill | Mistake {
  const file = join(folder, name, 'SKILL.md')
  let source: string
  try {
    source = readBounded(file).text
  } catch (error) {
    return mistake(path, unread(file, error, 'give the user that runs parley the right to read it'))
  }
  const [, front, text = ''] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(source) ?? []
  if (front === undefined)
    return mistake(path, `${file} must begin with its name and description between two lines ---`)
  const { tree, mistakes } = readYaml(front)
  const [broken] = mistakes
  if (broken) return mistake(path, `${file}, line ${broken.line + 1}: ${broken.message}`)
  const { data, error } = FRONT.safeParse(tree)
  const [issue] = error?.issues ?? []
  if (data === undefined) return mistake(path, `${file}: ${issue?.path.join('.')} ${issue?.message}`)
  if (data.name !== name)
    return mistake(path, `${file}: its name is ${data.name}, so its folder must be called ${data.name}`)
  if (text.trim() === '') return mistake(path, `${file} has no text below its description`)
  if (text.length > LONGEST) return mistake(path, `${file} has more than ${LONGEST} characters`)
  return { name, description: data.description.replace(/\s+/g, ' '), text: text.trim() }
}

function mistake(path: ConfigPath, message: string): Mistake {
  return { path, message: `${formatPath(path)}: ${message}` }
}
