"""Checks the lists against the finished files by extracting their text anew (pdftotext, openpyxl, python-docx, zip, e-mail parser)."""
import yaml,os,sys,places,openpyxl,re
from decimal import Decimal
R=os.path.dirname(os.path.dirname(os.path.abspath(__file__)));err=0
def E(*a):
    global err;err+=1;print('ERROR',*a)
def has(deal,f,pl):
    return [t for p,t in places.places(f'{R}/{deal}/files/{f}') if p==pl]
for deal in('heron','osprey'):
    t=yaml.safe_load(open(f'{R}/{deal}/truth.json',encoding='utf8'))
    fs=set(os.listdir(f'{R}/{deal}/files'));ds=[d['file'] for d in t['documents']]
    if set(ds)!=fs or len(ds)!=len(fs): E(deal,'documents',fs^set(ds))
    n=0
    for f in t['findings']:
        tx=has(deal,f['file'],f['place'])
        if not any(places.ns(f['as_written']) in places.ns(x) for x in tx): E(deal,f['id'],f['file'],f['place'],f['as_written'])
        n+=1
    print(deal,'documents',len(ds),'findings found at their place',n)
t=yaml.safe_load(open(f'{R}/heron/truth.json',encoding='utf8'));F={f['id']:f for f in t['findings']};D={d['file']:d for d in t['documents']}
if len(F)!=len(t['findings']): E('ids')
links={(c['newer'],c['older']) for c in t['corrections']}
for c in t['contradictions']:
    a,b=F[c['a']],F[c['b']]
    if a['file']==b['file'] or a['value']==b['value'] or any(a[k]!=b[k] for k in('metric','entity','period','unit','status')): E('contradiction',c)
    if (a['file'],b['file']) in links or (b['file'],a['file']) in links: E('contradiction in a chain',c)
    for x in(a,b):
        if x['id'] in {p['older'] for k in t['corrections'] for p in k['findings']}: E('superseded side',c)
for c in t['corrections']:
    if D[c['newer']]['date']<=D[c['older']]['date']: E('dates',c['id'])
    if c['by']=='metadata' and D[c['newer']]['title']!=D[c['older']]['title']: E('titles',c['id'])
    for p in c['findings']:
        a,b=F[p['newer']],F[p['older']]
        if a['value']==b['value'] or a['file']!=c['newer'] or b['file']!=c['older']: E('correction',c['id'],p)
    if c['by']=='phrase' and not any(places.ns(c['phrase']) in places.ns(' '.join(x for _,x in places.places(f"{R}/heron/files/{c['newer']}"))) for _ in [0]): E('phrase',c['id'])
w=openpyxl.load_workbook(f'{R}/heron/irl.xlsx').active;I=[(r[0],r[1],r[2]) for r in w.iter_rows(min_row=2,values_only=True)]
G={(g['domain'],g['request'],g['priority']) for g in t['gaps']};C={(c['domain'],c['request']) for c in t['covered']}
if not G<=set(I) or {(a,b) for a,b,_ in I}!=C|{(a,b) for a,b,_ in G} or len(I)!=len(G)+len(C): E('irl')
for c in t['covered']:
    for b in c['by']:
        if not has('heron',b['file'],b['place']): E('covered',c['request'],b)
NM=t['near_misses']
for n in NM['contradictions']:
    if n['a'] not in F or n['b'] not in F or frozenset((n['a'],n['b'])) in {frozenset((c['a'],c['b'])) for c in t['contradictions']}: E('near',n)
for n in NM['corrections']:
    for x in(n['a'],n['b']):
        if not os.path.exists(f"{R}/{'osprey' if x.startswith('osprey:') else 'heron'}/files/{x.replace('osprey:','')}"): E('near file',n)
print('IRL',len(I),'gaps',len(G),'contradictions',len(t['contradictions']),'chains',len({c['chain'] for c in t['corrections']}),'links',len(t['corrections']),'near',[len(v) for v in NM.values()],'injections',len(t['injections']))
if os.path.exists(f'{R}/eval.yaml'):
    ev=yaml.safe_load(open(f'{R}/eval.yaml',encoding='utf8'));pa={p['id']:p for p in yaml.safe_load(open(f'{R}/paraphrases.yaml',encoding='utf8'))}
    def walk(o):
        if isinstance(o,dict):
            if 'file' in o and 'place' in o and not has('heron',o['file'],o['place']): E('eval place',o)
            for v in o.values(): walk(v)
        elif isinstance(o,list):
            for v in o: walk(v)
    for c in ev:
        walk(c['expects']);e=c['expects']
        for x in e.get('contradictions',[]):
            if x not in {k['id'] for k in t['contradictions']}: E(c['id'],x)
        for x in e.get('gaps',[]):
            if x not in {k['id'] for k in t['gaps']}: E(c['id'],x)
        for f in e.get('not_sources',[]):
            if f not in D: E(c['id'],f)
        if c['turns'][-1]!=pa[c['id']]['turn'] or len(pa[c['id']]['paraphrases'])!=10: E('paraphrases',c['id'])
    print('cases',len(ev),'paraphrases',sum(len(p['paraphrases']) for p in pa.values()))
if os.path.exists(f'{R}/questions.yaml'):
    q=yaml.safe_load(open(f'{R}/questions.yaml',encoding='utf8'))
    for x in q:
        if not 1<=len(x['relevant'])<=6 or not any(r['grade']==2 for r in x['relevant']): E('question',x)
        for r in x['relevant']:
            if not has('heron',r['file'],r['place']): E('question place',x['question'],r)
    print('questions',len(q))
print('errors',err)
sys.exit(1 if err else 0)
