import { ParleyError } from '../core/errors.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Returns the arguments with each value that `way` names (`path`, `edits[].path`, `paths[]`) replaced by what `change`
 * returns. Nothing is done where an argument was left out. Throws `forbidden` where something else than a text stands
 * there: it is not known what a server makes of it.
 */
export async function changeValues(args: Json, way: string, change: (value: string) => Promise<string>): Promise<Json> {
  const steps = way.split('.').flatMap((name) => name.split(/(?=\[\])/))
  return (await changed(args, steps, change, way)) as Json
}

/** Returns the texts that `way` names. */
export async function valuesAt(args: Json, way: string): Promise<readonly string[]> {
  const found: string[] = []
  await changeValues(args, way, async (value) => {
    found.push(value)
    return value
  })
  return found
}

async function changed(
  value: unknown,
  [step, ...rest]: readonly string[],
  change: (value: string) => Promise<string>,
  way: string,
): Promise<unknown> {
  if (step === undefined) {
    if (typeof value === 'string') return change(value)
    throw unknownShape(way)
  }
  if (step === '[]') {
    if (!Array.isArray(value)) throw unknownShape(way)
    return Promise.all(value.map((one) => changed(one, rest, change, way)))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unknownShape(way)
  const inside: Json = { ...value }
  return Object.hasOwn(inside, step) ? { ...inside, [step]: await changed(inside[step], rest, change, way) } : inside
}

function unknownShape(way: string): ParleyError {
  return new ParleyError('forbidden', `Denied: the argument ${way} has a form that cannot be checked.`)
}
