import { type Case, reads, stays } from './case.ts'

const one = (written: string, address: string) => stays(written, { links: [address], bold: [], italic: [] })

export const ADDRESSES: Readonly<Record<string, readonly Case[]>> = {
  'bare addresses': [
    one(
      'See https://github.com/a/b/blob/main/pkg/__init__.py for it.',
      'https://github.com/a/b/blob/main/pkg/__init__.py',
    ),
    one(
      'https://en.wikipedia.org/wiki/Rust_(programming_language)',
      'https://en.wikipedia.org/wiki/Rust_(programming_language)',
    ),
    one('(see https://example.com/docs)', 'https://example.com/docs'),
    one('Is it https://example.com/a?b=*c*&d=_e_&f=~g~ or not?', 'https://example.com/a?b=*c*&d=_e_&f=~g~'),
    one('http://localhost:8080/health_check/_ready_ answers 200', 'http://localhost:8080/health_check/_ready_'),
    one('详见https://example.com/docs/setup，谢谢。', 'https://example.com/docs/setup'),
    one('https://example.com/파일를 보세요', 'https://example.com/'),
    one('https://ja.wikipedia.org/wiki/東京都 を見て', 'https://ja.wikipedia.org/wiki/東京都'),
    one('https://müller.example/straße?q=ä#abschnitt_2', 'https://müller.example/straße?q=ä#abschnitt_2'),
    one('"https://example.com/quoted_path_here" is quoted', 'https://example.com/quoted_path_here'),
    one('https://example.com/x|y_z_ is piped', 'https://example.com/x|y_z_'),
    one('Both: https://a.example/*.tar.gz and *.zip files', 'https://a.example/*.tar.gz'),
    one(
      'https://example.com/items?filter[name]=x_y_z&sort[]=1',
      'https://example.com/items?filter[name]=x_y_z&sort[]=1',
    ),
    one('Wow https://example.com/wow_!!!', 'https://example.com/wow_'),
    one(
      'https://web.archive.org/web/2020/https://example.com/a__b__c',
      'https://web.archive.org/web/2020/https://example.com/a__b__c',
    ),
    reads('See www.example.com/a_b_/_c_ and www.example.org.', 'See www.example.com/a_b_/_c_ and www.example.org.'),
    one('مرحبا https://example.com/مسار_جديد شكرا', 'https://example.com/مسار_جديد'),
    reads(
      'The plan is in <https://example.com/plan?id=7&v=2|the planning document>.',
      'The plan is in the planning document.',
      {
        links: ['https://example.com/plan?id=7&v=2'],
      },
    ),
    reads('<https://example.com/in_brackets_>', 'https://example.com/in_brackets_', {
      links: ['https://example.com/in_brackets_'],
    }),
  ],
  'addresses in marks': [
    reads('**https://example.com/x/**', 'https://example.com/x/', {
      bold: ['https://example.com/x/'],
      links: ['https://example.com/x/'],
    }),
    reads('*https://example.com/a_b_c*', 'https://example.com/a_b_c', {
      italic: ['https://example.com/a_b_c'],
      links: ['https://example.com/a_b_c'],
    }),
    reads('**Docs: https://example.com/docs/**, thanks', 'Docs: https://example.com/docs/, thanks', {
      links: ['https://example.com/docs/'],
    }),
    reads('_see https://example.com/y_', 'see https://example.com/y', { links: ['https://example.com/y'] }),
    reads('~~https://example.com/old~~ is gone', 'https://example.com/old is gone', {
      links: ['https://example.com/old'],
    }),
    reads('**A** https://example.com/**/b', 'A https://example.com/**/b', { links: ['https://example.com/**/b'] }),
    reads('- **https://example.com/1**: one', '• https://example.com/1: one', { bold: ['https://example.com/1'] }),
    reads('> https://example.com/q_u_o_t_e', 'https://example.com/q_u_o_t_e', {
      links: ['https://example.com/q_u_o_t_e'],
    }),
    reads('# https://example.com/head_ing', 'https://example.com/head_ing', {
      links: ['https://example.com/head_ing'],
    }),
    reads('**访问https://example.com/路径**。', '访问https://example.com/路径。', {
      bold: ['访问https://example.com/路径'],
    }),
    reads('`https://example.com/__code__`', 'https://example.com/__code__', {
      code: ['https://example.com/__code__'],
      links: [],
    }),
    reads('***https://example.com/both***', 'https://example.com/both', { links: ['https://example.com/both'] }),
  ],
  'links with a label': [
    reads('[the page](https://x.org/a_b?c=1&d=2)', 'the page', { links: ['https://x.org/a_b?c=1&d=2'] }),
    reads('[wiki](https://en.wikipedia.org/wiki/A_(b))', 'wiki', { links: ['https://en.wikipedia.org/wiki/A_(b)'] }),
    reads('[with a title](https://x.org/t "Title here")', 'with a title', { links: ['https://x.org/t'] }),
    reads('[a **bold** label](https://x.org/bold)', 'a bold label', { links: ['https://x.org/bold'] }),
    reads('[label [with] brackets](https://x.org/br)', 'label [with] brackets', { links: ['https://x.org/br'] }),
    reads('**[inside bold](https://x.org/ib)**', 'inside bold', { bold: ['inside bold'], links: ['https://x.org/ib'] }),
    reads('[`code()`](https://x.org/code)', 'code()', { links: ['https://x.org/code'] }),
    reads('[https://x.org/same_x_](https://x.org/same_x_)', 'https://x.org/same_x_', {
      links: ['https://x.org/same_x_'],
    }),
    reads(
      'See [the docs][1] and [more][].\n\n[1]: https://x.org/ref_1\n[more]: https://x.org/more "T"',
      'See the docs and more.',
      {
        links: ['https://x.org/ref_1', 'https://x.org/more'],
      },
    ),
    reads('![a chart](https://x.org/chart.png)', 'a chart', { links: ['https://x.org/chart.png'] }),
    reads('[![build](https://x.org/b.svg)](https://x.org/ci)', 'build', { links: ['https://x.org/ci'] }),
    reads('看[文档](https://x.org/文档)吧', '看文档吧', { links: ['https://x.org/文档'] }),
    reads('[angle](<https://x.org/a_(b>)', 'angle', { links: ['https://x.org/a_(b'] }),
    reads(
      'According to [1], it rains [2].\n\n[1]: https://x.org/one',
      'According to [1], it rains [2].\n\n[1]: https://x.org/one',
      {
        links: ['https://x.org/one'],
      },
    ),
  ],
  'links that open nowhere': [
    reads('Read [the guide](docs/guide.md) first', 'Read the guide (docs/guide.md) first'),
    reads('Go to [Install](#install) below', 'Go to Install below'),
    reads('[up](../README.md)', 'up (../README.md)'),
    reads('[call us](tel:+49-30-1234)', 'call us (tel:+49-30-1234)'),
    reads('[open](file:///etc/hosts_x_y)', 'open (file:///etc/hosts_x_y)'),
    reads('[app](slack://channel?id=1)', 'app (slack://channel?id=1)'),
    reads('[docs/a_b_.md](docs/a_b_.md)', 'docs/a_b_.md'),
    reads('![local](./img/chart_1_.png)', 'local (./img/chart_1_.png)'),
    stays('[x](javascript:alert(1))'),
    stays('arr[i](x) and f[0](y.z) call'),
    stays('Write it as [text](url), please'),
    stays('ftp://files.example/a_b_c/*.iso stays'),
    stays('postgres://user:p_a_ss@db.example:5432/my_db_'),
    stays('git@github.com:some_org_/repo_name_x.git'),
    stays('Mail first_last_x@example.com or jo+tag@example.org.'),
    stays('[unused_ref_]: is no address'),
  ],
}
