import { expect, it } from 'vitest'
import { readWorkplace } from '../../src/core/workplace.ts'

const same = (text: string) => text

it('C43: keeps what is given, sandboxed where no tier is named, without configured secrets', () => {
  expect(readWorkplace({}, same)).toEqual({ fileScope: 'sandboxed' })
  const redact = (text: string) => text.replaceAll('hunter22', '[secret]')
  expect(
    readWorkplace({ workingFolder: '/srv/hunter22', fileScope: 'full', selection: 'a\thunter22\nb' }, redact),
  ).toEqual({
    ...{ workingFolder: '/srv/[secret]', fileScope: 'full', selection: 'a\t[secret]\nb' },
  })
})

it.each([
  [{ workingFolder: 'x'.repeat(1_025) }, 'workplace.workingFolder must be a text of 1024'],
  [{ activeFile: 7 as never }, 'workplace.activeFile must be a text'],
  [{ gitReference: 'main\n' }, 'workplace.gitReference must not have control characters'],
  [{ selection: 'a\u001b[2J' }, 'workplace.selection must not have control characters'],
  [{ fileScope: 'everything' as never }, 'workplace.fileScope must be sandboxed, workspace, full'],
  [{ selection: `ghp_${'a'.repeat(20)}` }, 'workplace.selection looks like a key'],
])('C43: refuses %o', (asked, message) => {
  expect(() => readWorkplace(asked, same)).toThrow(message)
})
