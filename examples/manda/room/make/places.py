"""Text of each file by place, and looking a snippet up in it. Independent of the generators: reads the finished files only."""
import subprocess,re,zipfile,html,email,email.policy,functools,datetime
from html.parser import HTMLParser
def ns(s): return re.sub(r'\s+','',s.replace('\u00ad','').replace('\u2011','-').replace('\u00a0',' ').replace('\u202f',' ')).replace('’',"'").replace('ﬁ','fi').replace('ﬂ','fl')
def fmt(v,f):
    if isinstance(v,bool) or v is None: return '' if v is None else str(v)
    if isinstance(v,(int,float)) and f and f!='General':
        dec=len(f.split('.')[1].rstrip('%')) if '.' in f else 0
        if f.endswith('%'): return f'{v*100:.{dec}f}%'
        return f'{v:,.{dec}f}' if ',' in f else f'{v:.{dec}f}'
    return str(v)
@functools.lru_cache(None)
def places(path):
    """-> list of (place, text)"""
    e=path.rsplit('.',1)[1].lower()
    if e=='pdf':
        t=subprocess.run(['pdftotext','-layout',path,'-'],capture_output=True,text=True).stdout.split('\f')
        r=subprocess.run(['pdftotext',path,'-'],capture_output=True,text=True).stdout.split('\f')
        return [(f'p.{i+1}',a+'\n'+b) for i,(a,b) in enumerate(zip(t,r)) if (a+b).strip()]
    if e=='xlsx':
        import openpyxl
        W=openpyxl.load_workbook(path,data_only=True);o=[]
        for w in W:
            for row in w.iter_rows():
                for c in row:
                    if c.value is not None: o.append((f"'{w.title}'!{c.coordinate}",fmt(c.value,c.number_format)))
        return o
    if e=='docx':
        import docx
        from docx.table import Table
        from docx.text.paragraph import Paragraph
        D=docx.Document(path);head='';o=[];buf=[]
        for el in D.element.body:
            if el.tag.endswith('}p'):
                p=Paragraph(el,D);sn=p.style.name or ''
                if sn.startswith(('Heading','Title','heading')):
                    if buf:o.append((head,'\n'.join(buf)))
                    head=p.text;buf=[p.text]
                else: buf.append(p.text)
            elif el.tag.endswith('}tbl'):
                for r in Table(el,D).rows: buf.append('  '.join(c.text for c in r.cells))
        o.append((head,'\n'.join(buf)));return o
    if e=='html':
        h=open(path,encoding='utf8').read();h=re.sub(r'<head>.*?</head>','',h,flags=re.S);o=[]
        parts=re.split(r'<h[123][^>]*>(.*?)</h[123]>',h,flags=re.S)
        for k in range(1,len(parts),2): o.append((html.unescape(parts[k]),html.unescape(re.sub(r'<[^>]+>',' ',parts[k]+' '+parts[k+1]))))
        return o
    if e=='pptx':
        z=zipfile.ZipFile(path);n=len([x for x in z.namelist() if re.fullmatch(r'ppt/slides/slide\d+\.xml',x)]);o=[]
        for i in range(1,n+1):
            x=z.read(f'ppt/slides/slide{i}.xml').decode();o.append((f'slide {i}',html.unescape(' '.join(re.findall(r'<a:t>(.*?)</a:t>',x)))))
        return o
    L=open(path,encoding='utf8').read().split('\n');o=[(f'line {i}',l) for i,l in enumerate(L,1) if l.strip()]
    if e=='eml':
        m=email.message_from_binary_file(open(path,'rb'),policy=email.policy.default)
        for a in m.iter_attachments(): o+=[(f'{a.get_filename()} line {i}',l) for i,l in enumerate(a.get_content().split('\n'),1) if l.strip()]
    return o
def find(path,needle,pre='',post='',label='',row=None):
    P=places(path);n=ns(needle);e=path.rsplit('.',1)[1].lower()
    if e in('txt','eml'):   # sentences wrap over lines: join and map back
        txt='';mp=[]
        for pl,t in P:
            for ch in ns(t): txt+=ch;mp.append(pl)
        for ctx in (ns(pre)[-25:],ns(pre)[-10:],ns(pre)[-4:],''):
            k=txt.find(ctx+n)
            if k>=0: return mp[k+len(ctx)],txt.count(ctx+n)
        return None,0
    for ctx in (ns(pre)[-25:]+n+ns(post)[:12],ns(pre)[-25:]+n,ns(pre)[-12:]+n,n+ns(post)[:12]):
        if ctx==n: continue
        h=[pl for pl,t in P if ctx in ns(t)]
        if len(h)>=1 and e!='xlsx' and not label: return h[0],len(h)
    if row and e=='pdf':
        cells=[ns(c) for c in row if c]
        h=[pl for pl,t in P if any(all(c in ns(x) for c in cells) for x in t.split('\n'))]
        if not h: h=[pl for pl,t in P if all(c in ns(t) for c in cells)]
        if h: return h[0],len(h)
    if label:
        l=ns(label)
        h=[pl for pl,t in P if any(l[:18] in ns(x) and n in ns(x) for x in t.split('\n'))]
        if h: return h[0],len(h)
        h=[pl for pl,t in P if l in ns(t) and n in ns(t)]
        if h: return h[0],len(h)
    if e=='xlsx':
        h=[pl for pl,t in P if ns(t)==n]
        if h: return h[0],len(h)
    h=[pl for pl,t in P if n in ns(t)]
    return (h[0],len(h)) if h else (None,0)
