"""Parses the spec files: documents as light markup with findings marked in place."""
import re, glob
F=re.compile(r'\{\{(.*?)\}\}')
def money(s):
    m=re.fullmatch(r'(-?[\d.]+)(k|m|bn)?\s*(EUR|USD|CZK|%|[A-Za-z][A-Za-z0-9/]*)',s.strip())
    if not m:
        m=re.fullmatch(r'(\d{4}(?:-\d\d(?:-\d\d)?)?)date',s.strip())
        assert m,s
        return m.group(1),'date'
    from decimal import Decimal
    v=Decimal(m.group(1))*{None:1,'k':1000,'m':10**6,'bn':10**9}[m.group(2)]
    t=format(v,'f')
    if '.' in t: t=t.rstrip('0').rstrip('.')
    return t,m.group(3)
class Doc: pass
def strip(s): return F.sub(lambda m:m.group(1).split('|')[-1],s)
def parse_file(path,deal):
    return [derive(d) for d in parse0(path,deal)]
ALL={}
EX={};MORE={}
def load_extra():
    import os
    cur=None
    for l in open(os.path.join(os.path.dirname(os.path.abspath(__file__)),'extra.txt'),encoding='utf8').read().split('\n'):
        if l.startswith('=== '): cur=l[4:].strip();EX[cur]=[]
        elif cur: EX[cur].append(l)
    cur=None
    for l in open(os.path.join(os.path.dirname(os.path.abspath(__file__)),'more.txt'),encoding='utf8').read().split('\n'):
        if l.startswith('=== '): cur=l[4:].strip();MORE[cur]=[]
        elif l.startswith('>> '): MORE[cur].append((l[3:].strip(),[]))
        elif cur and MORE[cur]: MORE[cur][-1][1].append(l)
def derive(d):
    if not EX: load_extra()
    if d.deal=='heron' and d.file in EX: d.lines=d.lines+['']+EX[d.file]
    if d.deal=='heron' and d.file in MORE:
        for h,ls in MORE[d.file]:
            at=[i for i,l in enumerate(d.lines) if l.startswith('#') and l.lstrip('# ').strip()==h]
            assert at,(d.file,h)
            j=at[0]+1
            while j<len(d.lines) and not d.lines[j].startswith('#'): j+=1
            d.lines[j:j]=['']+ls+['']
    ALL[(d.deal,d.file)]=d
    if 'base' in d.meta:
        b=ALL[(d.deal,d.meta['base'])];meta=dict(b.meta);meta.update(d.meta);d.meta=meta
        subs=[l[3:].split(' => ') for l in d.lines if l.startswith('s: ')]
        extra=[l[2:] for l in d.lines if l.startswith('+ ')];tail=[l[2:] for l in d.lines if l.startswith('& ')]
        txt='\n'.join(b.lines)
        for o,n in subs:
            assert o in txt,(d.file,o)
            txt=txt.replace(o,n.replace('\\n','\n'))
        ks=d.meta.get('ks','_b')
        txt=re.sub(r'\{\{([A-Za-z0-9_]+)=',lambda m:'{{'+m.group(1).split('_')[0]+ks+'=',txt)
        L=txt.split('\n')
        k=0
        while k<len(L) and not L[k].strip(): k+=1
        if L and k<len(L) and L[k].startswith(('# ','@sheet')): k+=1
        d.lines=L[:k]+[x for e in extra for x in (e,'')]+L[k:]+['']+[x for e in tail for x in ((e,) if e.startswith('|') else (e,''))]
    return d
def parse0(path,deal):
    docs=[];d=None
    for ln,line in enumerate(open(path,encoding='utf8').read().split('\n'),1):
        if line.startswith('=== '):
            d=Doc();d.deal=deal;d.file=line[4:].strip();d.meta={};d.lines=[];docs.append(d);d.src=f'{path}:{ln}';continue
        if d is None: continue
        if not d.lines and re.match(r'^[a-z]{2,}: ',line) :
            k,v=line.split(': ',1);d.meta[k]=v.strip();continue
        d.lines.append(line)
    return docs
def blocks(d):
    """-> list of (type, payload); findings gathered in d.findings with their raw context"""
    d.findings=[];out=[];i=0
    L=d.lines
    head=None
    def take(raw,form,label):
        for m in F.finditer(raw):
            p=m.group(1).split('|')
            assert len(p) in(5,6),(d.file,m.group(0))
            key=None;metric=p[0]
            if '=' in metric: key,metric=metric.split('=',1)
            st=p[4] if len(p)==6 and p[4] else d.meta.get('fstatus','actual')
            v,u=money(p[3])
            if u=='date': p[2]=''
            pre=strip(raw[:m.start()]);post=strip(raw[m.end():])
            d.findings.append(dict(key=key,metric=metric.strip(),entity=p[1].strip(),period=p[2].strip(),value=v,unit=u,status=st,as_written=p[-1],form=form,pre=pre,post=post,label=label,head=head))
    while i<len(L):
        l=L[i]
        if not l.strip(): i+=1;continue
        if l.startswith('|'):
            rows=[]
            while i<len(L) and L[i].startswith('|'):
                cells=[c.strip() for c in re.split(r'(?<!\{)\|(?![^{]*\}\})',L[i].strip().strip())][1:]
                if cells and cells[-1]=='' : cells=cells[:-1]
                rows.append(cells);i+=1
            for r in rows:
                for ci,c in enumerate(r):
                    n0=len(d.findings);take(c,'table',strip(r[0]))
                    for f in d.findings[n0:]: f['row']=r;f['ci']=ci
            out.append(('table',rows));continue
        if l.startswith('# '): head=strip(l[2:]);take(l[2:],'prose','');out.append(('h1',l[2:]))
        elif l.startswith('## '): head=strip(l[3:]);take(l[3:],'prose','');out.append(('h2',l[3:]))
        elif l.startswith('^ '): take(l[2:],'prose','');out.append(('cap',l[2:]))
        elif l.startswith('- '): take(l[2:],'prose','');out.append(('li',l[2:]))
        elif l.startswith('> '): take(l[2:],'prose','');out.append(('note',l[2:]))
        elif l.strip()=='---': out.append(('pb',''))
        elif l.startswith('!notes: '): out.append(('speaker',l[8:]))
        elif l.startswith('@sheet '): head=l[7:].strip();out.append(('sheet',head))
        elif l.startswith('!cover'): out.append(('cover',''))
        else: take(l,'prose','');out.append(('p',l))
        i+=1
    return out
