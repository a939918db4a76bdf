import { describe, expect, test } from 'vitest'
import { explainConfig } from '../../src/config/explain.ts'
import { load, TELEGRAM } from './loading.ts'

const LINE = `${TELEGRAM}agents: [{ id: main, model: scripted/echo, skills: ./skills }]\n`

function skill(
  name: string,
  description = 'Plans a trip. Use it when somebody travels.',
  text = '# Trips\n\nAsk where to.',
): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${text}\n`
}

describe('skills', () => {
  test('R35: each is a folder with a SKILL.md, read in the order of the names', async () => {
    const { config } = await load(
      LINE,
      {},
      {
        'skills/trips/SKILL.md': skill('trips'),
        'skills/cooking/SKILL.md': `\uFEFF${skill('cooking', '>\n  Finds a\n  recipe.').replaceAll('\n', '\r\n')}`,
        'skills/README.md': 'no skill',
        'skills/notes/readme.txt': 'no skill',
      },
    )
    expect(config.agents[0]?.skills).toEqual([
      { name: 'cooking', description: 'Finds a recipe.', text: expect.stringMatching(/^# Trips/) },
      { name: 'trips', description: 'Plans a trip. Use it when somebody travels.', text: '# Trips\n\nAsk where to.' },
    ])
    expect(explainConfig(config).join('\n')).toContain(
      'agents.main: model scripted/echo, tools time, skills cooking, trips',
    )
  })

  test.each([
    ['the folder is not there', {}, /agents\[0\]\.skills: .*skills cannot be read \(ENOENT\); make the folder/],
    ['a file stands there', { skills: 'x' }, /skills is a file; name the folder that has <name>\/SKILL\.md/],
    ['a folder is in place of one', { 'skills/a/SKILL.md/x': '' }, /a\/SKILL\.md is a folder and not a file/],
    ['there is none in it', { 'skills/x.md': 'x' }, /skills has no <name>\/SKILL\.md/],
    [
      'it does not begin with its name',
      { 'skills/a/SKILL.md': '# A' },
      /a\/SKILL\.md must begin with its name and description/,
    ],
    ['its beginning is no YAML', { 'skills/a/SKILL.md': '---\nname: [a\n---\nx' }, /a\/SKILL\.md, line \d+: /],
    ['it has no description', { 'skills/a/SKILL.md': '---\nname: a\n---\nx' }, /description must say in a line or two/],
    ['its name is none', { 'skills/a/SKILL.md': skill('A b') }, /name must be lower-case letters/],
    ['its name is another', { 'skills/a/SKILL.md': skill('b') }, /its name is b, so its folder must be called b/],
    ['it says nothing', { 'skills/a/SKILL.md': skill('a', 'x', '') }, /has no text below its description/],
    ['it is too long', { 'skills/a/SKILL.md': skill('a', 'x', 'y'.repeat(100_001)) }, /more than 100000 characters/],
  ])('R35: refused where %s', async (_, files, message) => {
    await expect(load(LINE, {}, files)).rejects.toThrow(message)
  })
})
