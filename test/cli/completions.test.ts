import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rig } from './rig.ts'

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

/** Writes the completions of a shell to a file, as its user would load them. */
async function script(shell: string): Promise<string> {
  const cli = await rig()
  expect(await cli.run('completions', shell)).toBe(0)
  const folder = mkdtempSync(join(tmpdir(), 'parley-completions-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'completions'), cli.out())
  return join(folder, 'completions')
}

/** The words that bash offers for a line; its last word is the one that is being typed. */
function inBash(file: string, line: string): readonly string[] {
  const words = line.split(' ')
  const code = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parley; printf '%s\\n' "\${COMPREPLY[@]}"`
  const out = execFileSync('bash', ['--noprofile', '--norc', '-c', code, file, ...words], { encoding: 'utf8' })
  return out.split('\n').filter((word) => word !== '')
}

describe('completions', () => {
  it('bash completes commands, those below them, options and choices, also behind options', async () => {
    const file = await script('bash')
    expect(inBash(file, 'parley se')).toEqual(
      ['sessions', 'send', 'service'].filter((one) => inBash(file, 'parley ').includes(one)),
    )
    expect(inBash(file, 'parley sessions li')).toEqual(['list'])
    expect(inBash(file, 'parley -c /tmp/x.yaml sessions li')).toEqual(['list'])
    expect(inBash(file, 'parley schedule add --z')).toEqual(['--zone'])
    expect(inBash(file, 'parley export some --format mark')).toEqual(['markdown'])
    expect(inBash(file, 'parley completions f')).toEqual(['fish'])
    expect(inBash(file, 'parley status --conf')).toEqual(['--config'])
    // The value of an option without choices is a file, which the shell completes by itself.
    expect(inBash(file, 'parley --config st')).toEqual([])
    expect(inBash(file, 'parley nonsense li')).toEqual([])
  })

  it('every command of the help is completed, so that a new one is by itself', async () => {
    const file = await script('bash')
    const cli = await rig()
    await cli.run('--help')
    const listed = cli.out().slice(cli.out().indexOf('Commands:'))
    const commands = [...listed.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name = '']) => name)
    expect(commands.length).toBeGreaterThan(20)
    expect(inBash(file, 'parley ')).toEqual(expect.arrayContaining(commands))
  })

  it.skipIf(!has('fish'))('fish completes the same, with a description', async () => {
    const file = await script('fish')
    const complete = (line: string): readonly string[] =>
      execFileSync('fish', ['--no-config', '-c', `source ${file}; complete -C '${line}'`], { encoding: 'utf8' })
        .split('\n')
        .filter((one) => one !== '')
    expect(complete('parley sess')).toEqual([expect.stringMatching(/^sessions\t\S/)])
    expect(complete('parley sessions li')).toEqual([expect.stringMatching(/^list\t\S/)])
    expect(complete('parley export x --format mark')).toEqual([expect.stringMatching(/^markdown/)])
    expect(complete('parley completions zs')).toEqual([expect.stringMatching(/^zsh/)])
  })

  it.skipIf(!has('zsh'))('zsh completes the same, typed in a terminal', async () => {
    const file = await script('zsh')
    const typed = (line: string, until: string): string => {
      const code = `zmodload zsh/zpty; zpty z zsh -f -i
        zpty -w z "PS1='> '; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -D -u; source ${file}; echo rea''dy"
        zpty -r -m z out '*ready*'
        zpty -w -n z ${JSON.stringify(line)}$'\\t'
        zpty -r -m z out '*${until}*' && print -r -- "$out"
        zpty -d z`
      return execFileSync('zsh', ['-f', '-c', code], { encoding: 'utf8', timeout: 30_000 })
    }
    expect(typed('parley sess', 'parley sessions')).toContain('parley sessions')
    expect(typed('parley completions fi', 'completions fish')).toContain('completions fish')
  })

  it('an unknown shell is refused with those there are', async () => {
    const cli = await rig()
    expect(await cli.run('completions', 'tcsh')).toBe(2)
    expect(cli.err()).toMatch(/Allowed choices are bash, zsh, fish/)
  })

  it('zsh without compinit is left alone', async () => {
    expect(readFileSync(await script('zsh'), 'utf8')).toMatch(/^if .*functions\[compdef\].*; then compdef /m)
  })
})
