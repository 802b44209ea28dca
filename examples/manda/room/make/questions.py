import truth as T, yaml, places
from evals import NOTE
F=T.ROOT+'/heron/files/';AL={};Q=[];lang='en';bad=[]
chain={}
for by,ch in T.CORR:
    if by!='phrase':
        for f in ch: chain[f]=[x for x in ch if x!=f]
for l in open(T.build.HERE+'/questions.txt',encoding='utf8').read().split('\n'):
    if l.startswith('@'): k,v=l[1:].split('=',1);AL[k]=v;continue
    if l.startswith('# '): lang=dict(English='en',German='de',French='fr')[l[2:]];continue
    if '=>' not in l: continue
    q,r=l.split(' => ');rel={}
    for x in r.split(';'):
        p=x.split('::');f=AL[p[0]];g=int(p[2]) if len(p)>2 else 2
        pl,k=places.find(F+f,p[1])
        if pl is None: bad.append((q,f,p[1]));continue
        if k>1: bad.append(('AMBIG',q,f,p[1],pl,k))
        rel[(f,pl)]=max(g,rel.get((f,pl),0))
        for o in chain.get(f,[]):
            pl2,k2=places.find(F+o,p[1])
            if pl2: rel.setdefault((o,pl2),g)
            elif f.rsplit('.',1)[1] in('xlsx','pdf','docx','html','pptx','csv') and pl in dict(places.places(F+o)): rel.setdefault((o,pl),1)
    for (f,pl),g in list(rel.items()):
        if g<2: continue
        for x in r.split(';'):
            p=x.split('::')
            if AL[p[0]]!=f: continue
            for f0 in T.FS:
                if f0['file']==f and f0['place']==pl and places.ns(f0['as_written']) in places.ns(p[1]) and len(places.ns(f0['as_written']))>2:
                    for f1 in T.FS:
                        if T.sig(f1)==T.sig(f0) and f1['unit']!='date': rel.setdefault((f1['file'],f1['place']),1 if f1['id'] in T.superseded else 2)
    items=sorted(rel.items(),key=lambda z:-z[1])[:6]
    Q.append(dict(id=f'Q{len(Q)+1:03d}',language=lang,question=q,relevant=[dict(file=a[0],place=a[1],grade=g) for a,g in items]))
for b in bad: print(b)
import collections
print('questions',len(Q),collections.Counter(q['language'] for q in Q),len({q['question'] for q in Q}))
open(T.ROOT+'/questions.yaml','w',encoding='utf8').write(NOTE+''.join('- '+yaml.dump(q,Dumper=T.Dm,allow_unicode=True,default_flow_style=True,sort_keys=False,width=100000).strip()+'\n' for q in Q))
