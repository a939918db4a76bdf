import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { loadOwnTools, withOwnCommands } from '../../src/own/load-own-tools.ts'
import type { OwnDeps } from '../../src/own/own-tool.ts'
import { toolContext } from '../agent/turns.ts'
import { steppedClock } from '../delivery/stepped-clock.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const EXAMPLE = fileURLToPath(new URL('../../config/own-tools/dice.ts', import.meta.url))

const plainly: OwnDeps = { clock: systemClock, redact: (text) => text }

/** Loads a file with this text. */
function loaded(text: string, name = 'own.ts', deps: OwnDeps = plainly) {
  const path = join(tempFolder(), name)
  writeFileSync(path, text)
  return loadOwnTools({ ownTools: [{ name: 'mine', path }] }, deps)
}

const tool = (more: string): string =>
  `export default { tools: [{ name: 'add', description: 'adds', run: (args: { a: number }) => String(args.a + 1), ${more} }] }`

describe('a file with tools of one’s own', () => {
  it('is written as the example is, whose tool and command work', async () => {
    const { groups, commands } = await loadOwnTools({ ownTools: [{ name: 'dice', path: EXAMPLE }] }, plainly)
    const [dice] = groups['own.dice'] ?? []
    expect(dice).toMatchObject({ reach: 'inside', class: 'once', spec: { name: 'roll_dice' } })
    expect(dice?.foreign).toBeUndefined()
    expect(await dice?.run({ sides: 2 }, toolContext(0))).toMatch(/^It shows [12]\.$/)
    await expect(dice?.run({ sides: 'many' }, toolContext(0))).rejects.toThrow('2 to 1000')
    const [roll] = commands
    expect(roll).toMatchObject({ name: 'roll', who: 'anyone' })
    expect(await roll?.run({ args: ' 2 ' } as never)).toMatch(/^It shows \*\*[12]\*\*\.$/)
    await expect(roll?.run({ args: 'x' } as never)).rejects.toMatchObject({ code: 'invalid' })
  })

  it('is in TypeScript or JavaScript, and careful where it says nothing', async () => {
    const { groups } = await loaded(tool(''))
    const [add] = groups['own.mine'] ?? []
    expect(add).toMatchObject({ reach: 'beyond', class: 'once', foreign: true })
    expect(await add?.run({ a: 1 }, toolContext(0))).toBe('2')
    const plain = await loaded(`module.exports = { tools: [{ name: 'x', description: 'y', run: () => 7 }] }`, 'own.cjs')
    await expect(plain.groups['own.mine']?.[0]?.run({}, toolContext(0))).rejects.toThrow('x has returned no text.')
  })

  it('is offered as every provider takes it, and called by its own names', async () => {
    const parameters = { type: 'object', properties: { $a: { type: 'int' }, b: { default: 2 } }, required: ['b'] }
    const run = 'run: (args: object) => JSON.stringify(args)'
    const { groups } = await loaded(tool(`parameters: ${JSON.stringify(parameters)}, ${run}`))
    const [add] = groups['own.mine'] ?? []
    expect(add?.spec.parameters).toMatchObject({ properties: { a: { type: 'integer', description: '(name: $a)' } } })
    expect(add?.spec.parameters).not.toHaveProperty('required')
    expect(await add?.run({ a: 1 }, toolContext(0))).toBe('{"$a":1,"b":2}')
    const elsewhere = tool("parameters: { type: 'object', properties: { a: { $ref: 'http://x' } } }")
    await expect(loaded(elsewhere)).rejects.toThrow('the tool add cannot be offered: its arguments refer to another')
  })

  it.each([
    ['export default { tools: [{ name: "A", description: "b", run() {} }] }', 'tools.0.name: must be a-z'],
    ['export default { tools: [{ name: "a__b", description: "b", run() {} }] }', 'tools.0.name: must be a-z'],
    ['export default { tools: [{ name: "a", description: "b" }] }', 'tools.0.run: must be a function'],
    [tool("parameters: { type: 'string' }"), 'tools.0.parameters.type'],
    ['export default 7', 'its default export'],
    ['export const tools = []; throw new Error("broken")', 'cannot be loaded: broken'],
    ['export default {', 'cannot be loaded'],
    ['import x from "./not-there.ts"; export default x', 'cannot be loaded'],
  ])('%s is refused, naming the file', async (text, words) => {
    const refused = loaded(text)
    await expect(refused).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(words) })
    await expect(refused).rejects.toThrow(/^tools\.own\.mine: .*own\.ts/)
  })

  it('has no tool whose name is taken, which ends the start and not each turn', async () => {
    const asks = `export default { tools: [{ name: 'ask', description: 'x', run: () => '' }] }`
    await expect(loaded(asks)).rejects.toMatchObject({
      code: 'config',
      message: 'tools.own.mine: there is a tool ask already, of Parley itself; rename yours.',
    })
    const twice = ['one', 'two'].map((name) => ({ name, path: EXAMPLE }))
    await expect(loadOwnTools({ ownTools: twice }, plainly)).rejects.toThrow(
      'tools.own.two: there is a tool roll_dice already, of tools.own.one; rename yours.',
    )
  })

  it('has no command whose name is taken', async () => {
    const { commands } = await loadOwnTools({ ownTools: [{ name: 'dice', path: EXAMPLE }] }, plainly)
    expect(() => withOwnCommands(commands, commands)).toThrow('there is a command /roll already')
    expect(withOwnCommands([], commands)).toEqual(commands)
  })

  it.each([
    ['Object.create(null)', 'It failed without words.'],
    ['undefined', 'undefined'],
    ["Object.assign(new Error('x'), { message: 7 })", '7'],
    ["Object.defineProperty(new Error(''), 'message', { get() { throw 1 } })", 'It failed without words.'],
  ])('that throws %s has words for it', async (thrown, words) => {
    const run = `run: () => { throw ${thrown} }`
    const file = `export default {
      tools: [{ name: 'x', description: 'y', ${run} }],
      commands: [{ name: 'x', description: 'y', ${run} }],
    }`
    const { groups, commands } = await loaded(file)
    const refused = { code: 'invalid', message: words }
    await expect(groups['own.mine']?.[0]?.run({}, toolContext(0))).rejects.toMatchObject(refused)
    await expect(commands[0]?.run({ args: '' } as never)).rejects.toMatchObject(refused)
  })

  it('C29: says no secret of the configuration in an answer or an error of a command', async () => {
    const deps = { ...plainly, redact: (text: string) => text.replaceAll('hunter2', '[secret]') }
    const file = `export default { commands: [
      { name: 'say', description: 'y', run: () => 'it is hunter2' },
      { name: 'fail', description: 'y', run: () => { throw new Error('GET /?key=hunter2 failed') } },
    ] }`
    const { commands } = await loaded(file, 'own.ts', deps)
    expect(await commands[0]?.run({ args: '' } as never)).toBe('it is [secret]')
    await expect(commands[1]?.run({ args: '' } as never)).rejects.toThrow('GET /?key=[secret] failed')
  })

  it.each([
    ['a minute', '', 60],
    ['as long as it says', 'timeoutSeconds: 300,', 300],
  ])('is waited for by the model %s, and is told that nobody waits any more', async (_for, more, seconds) => {
    const clock = steppedClock()
    const file = `export default { tools: [{ name: 'slow', description: 'y', ${more}
      run: (_args, { signal }) => new Promise((_, fail) => {
        signal.addEventListener('abort', () => { globalThis.ownToolTold = signal.reason.code; fail(new Error('too late')) })
      }) }] }`
    const { groups } = await loaded(file, 'own.ts', { ...plainly, clock })
    const call = groups['own.mine']?.[0]?.run({}, toolContext(0))
    const refused = expect(call).rejects.toMatchObject({
      code: 'unavailable',
      message: `slow has not answered within ${seconds} seconds; what it has begun may still happen.`,
    })
    await new Promise(setImmediate)
    expect(clock.nextDue() - clock.now()).toBe(seconds * 1_000)
    clock.moveTo(clock.nextDue())
    await refused
    expect(Reflect.get(globalThis, 'ownToolTold')).toBe('unavailable')
  })

  it('gets arguments by name, whatever the model has sent', async () => {
    const file = `export default { tools: [{ name: 'say', description: 'y', run: (args) => JSON.stringify(args) }] }`
    const { groups } = await loaded(file)
    const run = (args: unknown) => groups['own.mine']?.[0]?.run(args, toolContext(0))
    expect(await run({ a: 1 })).toBe('{"a":1}')
    for (const odd of [[1], 'text', 7, null, undefined]) expect(await run(odd)).toBe('{}')
  })

  it('may fail once nobody waits for it any more', async () => {
    const clock = steppedClock()
    const file = `export default { tools: [{ name: 'slow', description: 'y', run: () => new Promise((_, fail) => {
      globalThis.ownToolFails = () => fail(new Error('much later'))
    }) }] }`
    const { groups } = await loaded(file, 'own.ts', { ...plainly, clock })
    const call = groups['own.mine']?.[0]?.run({}, toolContext(0))
    const refused = expect(call).rejects.toMatchObject({ code: 'unavailable' })
    await new Promise(setImmediate)
    clock.moveTo(clock.nextDue())
    await refused
    const unheard: unknown[] = []
    const hear = (error: unknown): number => unheard.push(error)
    process.on('unhandledRejection', hear)
    Reflect.get(globalThis, 'ownToolFails')()
    await new Promise(setImmediate)
    process.off('unhandledRejection', hear)
    expect(unheard).toEqual([])
  })

  it('is not waited for in a chat for ever', async () => {
    const clock = { ...systemClock, after: (_ms: number, callback: () => void) => systemClock.after(0, callback) }
    const file = `export default { commands: [{ name: 'slow', description: 'y', run: () => new Promise(() => {}) }] }`
    const { commands } = await loaded(file, 'own.ts', { ...plainly, clock })
    await expect(commands[0]?.run({ args: '' } as never)).rejects.toThrow('/slow has not answered within 60 seconds')
  })
})
