import truth as T, yaml, re
from decimal import Decimal
FS=T.FS;FILES=T.ROOT+'/heron/files/'
NOTE='# Written by an author who has not read the code of the system; never tuned on.\n'
def pick(spec):
    p=[x.strip() for x in spec.split('|')];file,metric=p[0],p[1]
    period=p[2] if len(p)>2 else None;ent=p[3] if len(p)>3 and p[3] else ('group' if len(p)<=3 else None);form=p[4] if len(p)>4 else None
    c=[f for f in FS if f['file']==file and f['metric']==metric and (period is None or f['period']==period) and (ent is None or f['entity']==ent) and (form is None or f['form']==form)]
    assert c,spec
    return c[0]
def src(spec):
    f,s=[x.strip() for x in spec.split('|',1)];pl,k=T.places.find(FILES+f,s);assert pl,spec
    return dict(file=f,place=pl)
def fig(f): return dict(value=f['value'],unit=f['unit'],period=f['period'],file=f['file'],place=f['place'])
def var(spec):
    a,b=[pick(x) for x in spec.split('||')];x,y=Decimal(a['value']),Decimal(b['value'])
    o=dict(**{'from':a['value'],'to':b['value']},difference=format((y-x).normalize(),'f'))
    if a['unit']=='%': o['unit']='pp'
    else: o['percent']=format(((y-x)/x*100).quantize(Decimal('0.1')),'f');o['unit']=a['unit']
    o['from_source']=dict(file=a['file'],place=a['place']);o['to_source']=dict(file=b['file'],place=b['place']);return o
tot={};cov={}
for x in T.irl:
    tot[x[0]]=tot.get(x[0],0)+1
    if x[3]!='GAP': cov[x[0]]=cov.get(x[0],0)+1
cases=[];para=[]
for blk in open(T.build.HERE+'/evals.txt',encoding='utf8').read().split('=== ')[1:]:
    L=blk.strip().split('\n');h=[x.strip() for x in L[0].split('|')]
    c=dict(id=h[0],turns=[],intent=h[1])
    if len(h)>2: c['kind']=h[2]
    e={};ps=[]
    for l in L[1:]:
        k,v=l.split(': ',1)
        if k=='t': c['turns'].append(v)
        elif k=='p': ps.append(v)
        elif k=='fig': e.setdefault('figures',[]).append(fig(pick(v)))
        elif k=='or':
            q=v.split('|')
            try: f=pick(v);r=dict(file=f['file'],place=f['place'])
            except AssertionError: r=src(v)
            e['figures'][-1].setdefault('or',[]).append(r)
        elif k=='src': e.setdefault('sources',[]).append(src(v))
        elif k=='not': e.setdefault('not_sources',[]).append(v)
        elif k=='contra': e['contradictions']=[x.strip() for x in v.split(';')]
        elif k=='var': e['variance']=var(v)
        elif k=='alt': e.setdefault('variance_alternatives',[]).append(var(v))
        elif k=='gaps': e['gaps']=[g['id'] for g in T.gaps if v=='all' or g['domain']==v or g['request']==v];assert e['gaps'],v
        elif k=='coverage': e['coverage']={d:f'{cov[d]}/{tot[d]}' for d in tot if v in('all',d)}
        elif k=='min': e.setdefault('at_least',{})[v.split()[0]]=int(v.split()[1])
        elif k=='tells': e['tells']=[x.strip() for x in v.split(';')]
        elif k=='nottells': e['not_tells']=[x.strip() for x in v.split(';')]
        elif k=='tellsany': e['tells_any']=[x.strip() for x in v.split('/')]
        elif k=='asks': e['asks']=True
        else: e[k]=v
    for g in e.get('figures',[]):
        f0=[f for f in FS if f['file']==g['file'] and f['place']==g['place'] and f['value']==g['value']][0]
        for f in FS:
            if T.sig(f)==T.sig(f0) and f['id'] not in T.superseded and f is not f0 and g['unit']!='date' and abs(Decimal(f['value'])-Decimal(f0['value']))<=max(T.gran(f),T.gran(f0))*Decimal('0.51'):
                r=dict(file=f['file'],place=f['place'])
                if r!=dict(file=g['file'],place=g['place']) and r not in g.get('or',[]): g.setdefault('or',[]).append(r)
    assert len(ps)==10 and len(set(ps))==10 and ps[0]!=c['turns'][-1],(h,len(ps))
    c['expects']=e;cases.append(c);para.append(dict(id=h[0],turn=c['turns'][-1],paraphrases=ps))
assert len(cases)==40
W=dict(allow_unicode=True,sort_keys=False,width=200)
HEAD=NOTE+'''# figures[].or: other places where the same figure stands and which serve as well. variance_alternatives: any one of
# variance and these is a right answer. at_least: so many of the planted ones must be told. tells_any: one of these words.
# explains: no-data = says why nothing was found. Figures count as told when equal after rounding to the precision shown.
'''
open(T.ROOT+'/eval.yaml','w',encoding='utf8').write(HEAD+yaml.dump(cases,Dumper=T.Dm,**W))
open(T.ROOT+'/paraphrases.yaml','w',encoding='utf8').write(NOTE+yaml.dump(para,Dumper=T.Dm,**W))
print('cases',len(cases),'paraphrases',sum(len(p['paraphrases']) for p in para))
